"""Read built pages as a browser does: ids, links, what is loaded, and what is seen.

Links are compared with ids byte for byte, after the decoding that browsers do and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_HERE = "site.invalid"
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


@dataclass(kw_only=True)
class Page:
    """One page; `texts` maps the id or the classes of an element to the text inside."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)


def read_page(text: str) -> Page:
    """Return what a page holds."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page


def read_site(folder: Path) -> dict[str, Page]:
    """Return the pages of a site by their addresses from its root."""
    return {
        path.relative_to(folder).as_posix(): read_page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }


def dead_links(folder: Path, site: dict[str, Page]) -> list[str]:
    """Return each link inside the site whose page, or whose fragment on that page, does not exist."""
    return [
        f"{name} -> {address}"
        for name, page in site.items()
        for address in page.links
        if not _leads(folder, site, name, address)
    ]


def outside(site: dict[str, Page]) -> Iterator[str]:
    """Yield each address outside the site that a page loads something from."""
    for name, page in site.items():
        for address in page.loaded:
            if urlsplit(address).netloc or address.startswith("//"):
                yield f"{name} loads {address}"


def _leads(folder: Path, site: dict[str, Page], name: str, address: str) -> bool:
    parts = urlsplit(urljoin(f"https://{_HERE}/{name}", address))
    if parts.netloc != _HERE:
        return parts.scheme == "https"
    target = unquote(parts.path).lstrip("/")
    target = f"{target}index.html" if target in {"", "."} or target.endswith("/") else target
    if target not in site:
        return (folder / target).is_file()
    return not parts.fragment or unquote(parts.fragment) in site[target].ids


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._open: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.page.tags.append(tag)
        if "id" in values:
            self.page.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        if tag in _LOADED and values.get(_LOADED[tag]) and values.get("rel") != "canonical":
            self.page.loaded.append(values[_LOADED[tag]])
        if tag not in _VOID:
            keys = [*values.get("class", "").split(), *([values["id"]] if "id" in values else [])]
            for key in keys:
                self.page.texts.setdefault(key, []).append("")
            self._open.append((tag, keys))

    def handle_endtag(self, tag: str) -> None:
        while self._open and any(name == tag for name, _ in self._open):
            name, _ = self._open.pop()
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        for _, keys in self._open:
            for key in keys:
                self.page.texts[key][-1] += data

    def handle_comment(self, data: str) -> None:
        self.page.comments.append(data)
