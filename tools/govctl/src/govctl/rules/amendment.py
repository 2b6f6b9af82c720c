"""Family 06, fourth part: a version is a promise.

Knows what a version that left phase spec may still change. Knows nothing of single sentences.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.findings import Diagnostic, Related
from govctl.grammar import version_key
from govctl.lock import Seal
from govctl.specification import Rfc
from govctl.tree import Tree

_VERSION = ("govctl", "version")


def versions_are_sealed(tree: Tree) -> Iterator[Diagnostic]:
    """The version of an RFC that has left phase spec is sealed in the lock."""
    for rfc in _bound(tree):
        name = f"{rfc.id}@{rfc.version}"
        if name not in tree.lock.seals:
            yield Diagnostic(
                place=rfc.document.value_place(_VERSION),
                subject=rfc.id,
                message=f"{name} has left phase spec and is not sealed",
                mend=f"when its sentences are accepted: govctl lock --seal {rfc.id}",
            )


def sealed_versions_stay(tree: Tree) -> Iterator[Diagnostic]:
    """The statements of an RFC are those with which its version was sealed."""
    for rfc in _bound(tree):
        sealed, now = tree.lock.seals.get(f"{rfc.id}@{rfc.version}"), tree.seal_of(rfc.id)
        if sealed is not None and sealed != now:
            level = "minor" if sealed.must_digest != now.must_digest else "patch"
            yield Diagnostic(
                place=rfc.document.value_place(_VERSION),
                subject=rfc.id,
                message=f"the statements of {rfc.id} changed since {rfc.version} was sealed",
                mend=f"raise the version, at least its {level} number, with an entry in the changelog",
                related=(Related(place=sealed.place, note="the seal"),),
            )


def bumps_are_large_enough(tree: Tree) -> Iterator[Diagnostic]:
    """A version that adds, changes or removes a MUST has a new minor number at least, and none goes back."""
    for rfc in _bound(tree):
        message, seal = _too_small(tree, rfc)
        if seal is not None:
            yield Diagnostic(
                place=rfc.document.value_place(_VERSION),
                subject=rfc.id,
                message=message,
                mend="raise the version, at least its minor number",
                related=(Related(place=seal.place, note=f"the seal of {seal.version}"),),
            )


def _too_small(tree: Tree, rfc: Rfc) -> tuple[str, Seal | None]:
    """Say what is wrong with the step from the last sealed version, and which that is."""
    now = version_key(rfc.version)
    others = [seal for seal in tree.lock.seals_of(rfc.id) if seal.version != rfc.version]
    if not others:
        return "", None
    last = others[-1]
    if version_key(last.version) > now:
        return f"version {rfc.version} is below {last.version}, which was sealed", last
    is_patch = version_key(last.version)[:2] == now[:2]
    if is_patch and last.must_digest != tree.seal_of(rfc.id).must_digest:
        return f"{rfc.version} is a patch of {last.version}, and a MUST was added, changed or removed", last
    return "", None


def _bound(tree: Tree) -> list[Rfc]:
    """Return the RFCs whose versions are promises; none when too little could be read."""
    if tree.is_lock_broken or tree.is_specification_partial:
        return []
    return [rfc for rfc in tree.rfc_by_id.values() if rfc.phase != "spec" and rfc.status != "deprecated"]
