"""Benchmarks: what things cost, measured side by side in one run, with the machine and the shape beside each number.

Run as `python -m benchmarks` from the root of the repository. Knows the reference, the suite and govctl from outside;
nothing imports it. No test is timed, and no number in a document is written by hand.
"""
