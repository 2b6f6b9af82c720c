"""Hand-written pages: taken as they are, with what the tree knows in the place of markers.

Knows the markers, each a line of its own: `<!-- govctl: coverage -->`. Knows nothing of what a page is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from govctl.render import links
from govctl.render.inline import link, verbatim
from govctl.render.material import Material
from govctl.render.parts import front_matter, page
from govctl.render.proof_pages import summary_table

_MARKER = re.compile(r"^<!-- govctl: ([a-z-]+) -->$", re.MULTILINE)
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_MARKERS: Mapping[str, Callable[[Material, str], str]] = {"coverage": summary_table}


class UnknownMarkerError(Exception):
    """A hand-written page has a marker that means nothing."""

    def __init__(self, page: str, marker: str) -> None:
        super().__init__(page, marker)
        self.page = page
        self.marker = marker

    def __str__(self) -> str:
        return f"{self.page} has the marker {self.marker!r}; there are {', '.join(sorted(_MARKERS))}"


def written_files(material: Material) -> dict[str, bytes]:
    """Return the hand-written files; where there is no start page, one that lists the RFCs."""
    files = {name: _filled(material, name, content) for name, content in material.written.items()}
    return files if links.INDEX in files else {**files, links.INDEX: _index(material).encode()}


def page_title(name: str, content: bytes) -> str:
    """Return the first heading of a hand-written page, else its file name as words."""
    match = _HEADING.search(content.decode("utf-8", errors="replace"))
    plain = name.rpartition("/")[2].removesuffix(".md").replace("-", " ").capitalize()
    return re.sub(r"\s*\{[^}]*\}\s*$", "", match.group(1)).replace("`", "") if match else plain


def _filled(material: Material, name: str, content: bytes) -> bytes:
    if not name.endswith(".md"):
        return content

    def filled(match: re.Match[str]) -> str:
        if match[1] not in _MARKERS:
            raise UnknownMarkerError(name, match[1])
        return _MARKERS[match[1]](material, name)

    return _MARKER.sub(filled, content.decode("utf-8", errors="replace")).encode()


def _index(material: Material) -> str:
    name = material.tree.config.name or "Specification"
    rfcs = (
        f"- {link(verbatim(f'{rfc.id} {rfc.title}'), links.rfc_page(rfc.id))}"
        for _, rfc in sorted(material.tree.rfc_by_id.items())
    )
    return page([front_matter(name), f"# {verbatim(name)}", "\n".join(rfcs), summary_table(material, links.INDEX)])
