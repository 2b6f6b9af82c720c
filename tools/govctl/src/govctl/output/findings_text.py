"""Findings for a reader: one line that tools can match, then the snippet, the reason and the remedy.

Knows the layout. Knows nothing of rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from govctl.findings import Finding, Severity
from govctl.output.style import Style
from govctl.places import Place

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_WIDTH = 160


def render_findings(findings: Sequence[Finding], line_of: Callable[[Place], str], style: Style) -> Iterator[str]:
    """Yield the lines of all findings; `line_of` reads one line of a file."""
    for finding in findings:
        yield from _finding(finding, line_of(finding.place), style)
        yield ""


def summary(findings: Sequence[Finding]) -> str:
    """Count findings by severity."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(counted(counts[severity], severity) for severity in _COLOURS)


def counted(count: int, name: str) -> str:
    """Return a number with its noun."""
    return f"{count} {name}{'' if count == 1 else 's'}"


def _finding(finding: Finding, line: str, style: Style) -> Iterator[str]:
    level = style.paint(f"{finding.severity}[{finding.code} {finding.name}]", _COLOURS[finding.severity], "bold")
    yield f"{style.paint(str(finding.place), 'bold')}: {level}: {printable(finding.headline)}"
    yield from _snippet(finding.place, line, style)
    yield f"    {style.paint('why:', 'dim')}  {finding.why}"
    yield f"    {style.paint('mend:', 'dim')} {printable(finding.mend)}"
    for related in finding.related:
        yield f"    {style.paint('see:', 'dim')}  {related.place} {printable(related.note)}"


def _snippet(place: Place, line: str, style: Style) -> Iterator[str]:
    """Show the line with a caret below the column; of a long line, the part around it."""
    if not line.strip():
        return
    start = max(0, place.column - 1 - _WIDTH // 2) if len(line) > _WIDTH else 0
    shown = printable(line[start : start + _WIDTH].replace("\t", " "))
    number = str(place.line)
    caret = " " * (place.column - 1 - start) + style.paint("^", "bold")
    yield f"    {style.paint(f'{number} |', 'dim')} {shown}"
    yield f"    {style.paint(' ' * len(number) + ' |', 'dim')} {caret}"


def printable(text: str) -> str:
    """Replace what would move the cursor or cannot be encoded: text never changes the structure of the output."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
