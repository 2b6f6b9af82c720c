"""Findings that are already known: those of a baseline file, or of an older revision.

Knows the form of a baseline and how git gives a tree of old. Knows no rule.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from govctl.commands.context import UsageError
from govctl.findings import Finding
from govctl.loader import CONFIG_FILE, load_tree
from govctl.output.findings_text import printable
from govctl.rules.run import judge

_HEADER = (
    "# Known findings, one a line: fingerprint, code, file, subject; written by `govctl check --write-baseline`.\n"
)
_FINGERPRINT = 16  # hexadecimal digits


def without_known(findings: Sequence[Finding], known: Counter[str]) -> tuple[list[Finding], int]:
    """Return the findings that are not known, and how many known ones are gone."""
    left = Counter(known)
    new = []
    for finding in findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
        else:
            new.append(finding)
    return new, left.total()


def baseline_text(findings: Iterable[Finding]) -> str:
    """Return the text of a baseline file."""
    lines = {f"{finding.fingerprint} {finding.code} {finding.place.file} {finding.subject}" for finding in findings}
    counts = Counter(finding.fingerprint for finding in findings)
    repeated = [line for line in lines for _ in range(counts[line[:_FINGERPRINT]])]
    return _HEADER + "".join(f"{printable(line)}\n" for line in sorted(repeated, key=_by_place))


def read_baseline(path: Path) -> Counter[str]:
    """Return the fingerprints of a baseline file, with how often each may occur."""
    try:
        lines = path.read_bytes().decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the baseline {path}: {error}") from error
    prints = [line.split(" ", 1)[0] for line in lines if line.strip() and not line.startswith("#")]
    if wrong := [text for text in prints if len(text) != _FINGERPRINT or set(text) - set("0123456789abcdef")]:
        raise UsageError(f"the baseline {path} holds {wrong[0][:40]!r}, which is no fingerprint")
    return Counter(prints)


def findings_of_revision(root: Path, revision: str, today: str) -> Counter[str]:
    """Return the fingerprints of what is found in the tree at a revision."""
    if revision.startswith("-"):
        raise UsageError(f"{revision} is no revision")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_archive(root, revision))) as archive:
            archive.extractall(folder, filter="data")
        if not (Path(folder) / CONFIG_FILE).exists():
            return Counter()
        return Counter(finding.fingerprint for finding in judge(load_tree(folder, today=today)).findings)


def _archive(root: Path, revision: str) -> bytes:
    command = ["git", "-C", str(root), "archive", "--format=tar", revision]
    try:
        result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # git, and what the user names
    except OSError as error:
        raise UsageError(f"cannot run git: {error.strerror}") from error
    if result.returncode != 0:
        raise UsageError(f"git knows no tree {revision}: {result.stderr.decode(errors='replace').strip()}")
    return result.stdout


def _by_place(line: str) -> tuple[str, str]:
    fingerprint, _, rest = line.partition(" ")
    return rest, fingerprint
