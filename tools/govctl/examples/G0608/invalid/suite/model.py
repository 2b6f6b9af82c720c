"""The model of the example, moved on."""
