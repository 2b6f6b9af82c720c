"""SharedKV reference: plain where the specification is plain, fast where it names a cost.

Page arithmetic is integers and numpy arrays; nothing here knows the conformance suite or its contract.
"""
