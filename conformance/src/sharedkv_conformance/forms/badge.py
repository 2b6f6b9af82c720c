"""A report as a badge: what shields.io reads from an endpoint, or a picture of our own.

A badge says no more than the headline: conformant, and how much of it was proven.
"""

from __future__ import annotations

import json
from html import escape

from sharedkv_conformance.report_form import ReportForm

LABEL = "SharedKV"
COLOURS = {
    "conformant": ("brightgreen", "#2c7a1e"),
    "not conformant": ("red", "#b3261e"),
    "incomplete": ("yellow", "#7a6200"),
}
# Widths of Verdana at 11 pixels, near enough: a narrow letter, a wide one, any other.
NARROW, WIDE, OTHER = 4, 10, 7
PADDING = 10


def render_endpoint(report: ReportForm) -> str:
    """Return the JSON that an endpoint badge of shields.io reads."""
    colour, _ = COLOURS[report["profiles"][0]["verdict"]]
    return json.dumps({"schemaVersion": 1, "label": LABEL, "message": message(report), "color": colour}) + "\n"


def message(report: ReportForm) -> str:
    """Return what stands on the right side of a badge."""
    profile = report["profiles"][0]
    return f"{profile['verdict']}, {profile['must'].get('pass', 0)}/{sum(profile['must'].values())} MUST"


def render_svg(report: ReportForm) -> str:
    """Return the badge as a picture with a text that can be read aloud."""
    text = message(report)
    _, colour = COLOURS[report["profiles"][0]["verdict"]]
    left, right = _width(LABEL), _width(text)
    spoken = escape(f"{LABEL}: {text}")
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"',
            f'  aria-label="{spoken}">',
            f"  <title>{spoken}</title>",
            f'  <clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>',
            '  <g clip-path="url(#r)">',
            f'    <rect width="{left}" height="20" fill="#444"/>',
            f'    <rect x="{left}" width="{right}" height="20" fill="{colour}"/>',
            "  </g>",
            '  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
            f'    <text x="{left / 2:g}" y="14">{escape(LABEL)}</text>',
            f'    <text x="{left + right / 2:g}" y="14">{escape(text)}</text>',
            "  </g>",
            "</svg>\n",
        )
    )


def _width(text: str) -> int:
    return PADDING + sum(NARROW if c in "fijlrt,./: " else WIDE if c in "mwMW@" else OTHER for c in text)
