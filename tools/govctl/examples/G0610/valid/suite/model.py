"""The model of the example."""
