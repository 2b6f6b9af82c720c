"""No check."""
