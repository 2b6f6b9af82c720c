"""The checks: one function for each statement, by facet."""
