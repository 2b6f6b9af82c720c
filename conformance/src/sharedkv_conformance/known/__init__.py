"""Failures that an implementer knows of and answers for. They say what a run expects, and never change a verdict."""
