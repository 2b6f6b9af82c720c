"""The reference behind the contract: the only package that sees both, and nothing imports it.

`cpu()` is how the suite opens the reference on a machine without an accelerator.
"""

from sharedkv_adapter.implementation import ReferenceImplementation


def cpu() -> ReferenceImplementation:
    """Return the reference on the CPU."""
    return ReferenceImplementation()


__all__ = ["cpu"]
