"""Other forms of a report, each derived from its canonical JSON alone: nothing is known here that is not in it."""
