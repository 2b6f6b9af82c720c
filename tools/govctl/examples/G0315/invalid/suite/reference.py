"""The reference of the example."""
