"""The laws: one pure function for each thing that a sentence forbids, and the witnesses of their triggers."""
