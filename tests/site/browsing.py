"""Drive the headless browser: widths, colours, what it asked the network for, and how readable a page is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # what a page answers to a script
from urllib.parse import urlsplit

from selenium import webdriver

DESK, PHONE = (1360, 900), (390, 844)

# Each text that is seen, with the contrast of its colour against what stands behind it.
_CONTRAST = """
const channels = c => c.match(/[0-9.]+/g).map(Number);
const over = (top, under) => {
  const a = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map(i => top[i] * a + under[i] * (1 - a));
};
const light = rgb => {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = element => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(channels(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
};
const isSeen = element => {
  for (let e = element; e; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.visibility === "hidden" || style.display === "none" || Number(style.opacity) === 0) return false;
  }
  return element.getClientRects().length > 0;
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.closest(".md-content, .md-header, .md-tabs, .md-sidebar")) continue;
  if (element.closest("svg, .headerlink, .md-clipboard, .md-search") || !isSeen(element)) continue;
  const under = behind(element);
  const style = getComputedStyle(element);
  const front = over(channels(style.color), under);
  const [high, low] = [light(front), light(under)].sort((a, b) => b - a);
  const name = element.className || element.tagName;
  found.push([(high + 0.05) / (low + 0.05), name, walker.currentNode.data.trim().slice(0, 30)]);
}
return found;
"""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What was seen of one page: complaints, requests, its width, and each text with its contrast."""

    address: str
    complaints: tuple[str, ...]
    requests: tuple[str, ...]
    width: int
    contrasts: tuple[tuple[float, str, str], ...]


def visit(browser: webdriver.Chrome, pages: Sequence[str]) -> list[Visit]:
    """Open each page in turn and note what is seen."""
    console(browser)
    list(asked(browser))
    return [_visit(browser, page) for page in pages]


def _visit(browser: webdriver.Chrome, page: str) -> Visit:
    browser.get(page)
    return Visit(
        address=page,
        width=int(browser.execute_script("return document.documentElement.scrollWidth")),
        contrasts=tuple(contrasts(browser)),
        complaints=tuple(console(browser)),
        requests=tuple(asked(browser)),
    )


def look(browser: webdriver.Chrome, *, size: tuple[int, int] = DESK, scheme: str = "light") -> None:
    """Give the browser a width and a preference of colours."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def addresses(served: str, folder: Path) -> list[str]:
    """Return the address of every page of a site."""
    return [f"{served}{path.relative_to(folder).as_posix()}" for path in sorted(folder.rglob("*.html"))]


def console(browser: webdriver.Chrome) -> list[str]:
    """Return what the pages wrote into the console since the last call."""
    lines = browser.get_log("browser")  # type: ignore[no-untyped-call]  # selenium gives it no types
    return [str(line["message"]) for line in lines]


def asked(browser: webdriver.Chrome) -> Iterator[str]:
    """Yield every address that was asked for since the last call."""
    for entry in browser.get_log("performance"):  # type: ignore[no-untyped-call]  # selenium gives it no types
        message: Any = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def is_outside(address: str) -> bool:
    """Say whether an address is that of another machine."""
    parts = urlsplit(address)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1"


def contrasts(browser: webdriver.Chrome) -> list[tuple[float, str, str]]:
    """Return the contrast of each text that is seen, with the class and the beginning of the text."""
    return [(float(ratio), str(kind), str(text)) for ratio, kind, text in browser.execute_script(_CONTRAST)]
