"""The reference behind the contract: the only package that sees both, and nothing imports it.

`cpu()` is how the suite opens the reference on a machine without an accelerator, with files as its storage;
`cpu_mooncake()` is the same over a Mooncake store, whose master it starts when storage is first used.
"""

from sharedkv_adapter.implementation import ReferenceImplementation
from sharedkv_adapter.stores import FilePlace, MooncakePlace


def cpu() -> ReferenceImplementation:
    """Return the reference on the CPU, its storage in files."""
    return ReferenceImplementation(FilePlace())


def cpu_mooncake() -> ReferenceImplementation:
    """Return the reference on the CPU, its storage in a Mooncake store of this machine."""
    return ReferenceImplementation(MooncakePlace())


__all__ = ["cpu", "cpu_mooncake"]
