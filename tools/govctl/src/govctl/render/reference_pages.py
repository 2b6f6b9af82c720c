"""Pages to look things up in: codes, contract, facets and reserved numbers.

Knows what a reader looks up. Knows nothing of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from govctl.render import links
from govctl.render.blocks import code_block, markdown_of, table
from govctl.render.contract_reader import ContractClass, ContractModule
from govctl.render.examples import Example
from govctl.render.inline import code, link, sentence, verbatim
from govctl.render.material import Material
from govctl.render.parts import badge, front_matter, page
from govctl.rules.explanations import EXPLANATIONS
from govctl.rules.table import COMPARISON, RULES, Rule
from govctl.tree import FacetSources

_SEVERITY_KINDS = {"error": "bad", "warning": "should", "note": "none", "off": "none"}
_KIND_NAMES = {
    "value": "frozen value",
    "protocol": "Protocol",
    "enumeration": "enumeration",
    "error": "error",
    "class": "class",
}
_CODES_INTRO = """\
Everything that `govctl check` can find. Each code has a small valid tree and an invalid one; what differs between
them is shown, and what is then found.
"""
_CONTRACT_INTRO = """\
What an implementation is asked for. Values are frozen and cross as plain ints, tuples, strings and bytes. This page
is made from the docstrings of the contract, which needs the standard library alone.
"""
_FACETS_INTRO = """\
One word per capability, the same word everywhere: whoever knows it finds the RFC, the contract, the checks, the
executable model, the wrong implementations and the reference. A number that is reserved keeps its meaning.
"""


def codes_page(material: Material) -> str:
    """Return every code of govctl with what must hold, why, and an example."""
    rules = sorted((*RULES, COMPARISON), key=lambda rule: rule.code)
    return page(
        [
            front_matter("Codes"),
            "# Codes",
            _CODES_INTRO,
            *(part for rule in rules for part in _rule(rule, material.examples.get(rule.code))),
        ]
    )


def _rule(rule: Rule, example: Example | None) -> Iterator[str]:
    yield f"## {rule.code} {verbatim(rule.name)} {{ #{rule.code} }}"
    yield f'<p class="badges" markdown="span">{badge(rule.severity, _SEVERITY_KINDS[rule.severity])}</p>'
    yield sentence(rule.summary)
    yield f"Why: {sentence(rule.why)}."
    yield sentence(EXPLANATIONS.get(rule.code, ""))
    if example is not None and example.difference:
        yield code_block(example.difference, "diff")
    if example is not None and example.found:
        yield code_block("\n".join(example.found), "text")


def contract_page(material: Material) -> str:
    """Return the contract from its docstrings."""
    return page(
        [
            front_matter("Contract"),
            "# Contract",
            _CONTRACT_INTRO,
            *(part for module in material.contract for part in _module(module)),
        ]
    )


def _module(module: ContractModule) -> Iterator[str]:
    yield f"## {verbatim(module.name)} {{ #{links.encoded(module.name)} }}"
    yield markdown_of(module.text)
    for found in module.classes:
        yield f"### {verbatim(found.name)} {{ #{links.encoded(module.name)}.{links.encoded(found.name)} .mono }}"
        yield f'<p class="badges" markdown="span">{badge(_KIND_NAMES[found.kind], "none")}</p>'
        yield markdown_of(found.text)
        yield from _members(found)


def _members(found: ContractClass) -> Iterator[str]:
    if found.members:
        items = (
            f"<dt>{code(member.signature)}</dt>\n"
            + (f'<dd markdown="span">{sentence(member.text)}</dd>' if member.text else "")
            for member in found.members
        )
        yield "\n".join(['<dl class="members" markdown>', *items, "</dl>"])


def facets_page(material: Material) -> str:
    """Return the map of capabilities and the files of each."""
    tree = material.tree
    words = {facet.word for facet in tree.config.facets}
    return page(
        [
            front_matter("Facets"),
            "# Facets and reserved numbers",
            _FACETS_INTRO,
            _map(material, words),
            *(part for facet in tree.config.facets for part in _facet(material, facet.word, facet.rfc)),
        ]
    )


def _map(material: Material, words: set[str]) -> str:
    tree = material.tree
    reserved = {row.rfc: row for row in tree.config.site.reserved}
    rows = []
    for name in sorted({*reserved, *tree.rfc_by_id}):
        rfc, row = tree.rfc_by_id.get(name), reserved.get(name)
        word = rfc.facet if rfc and rfc.facet else row.facet if row else ""
        shown = link(f"`{word}`", f"#{links.encoded(word)}") if word in words else code(word)
        address = links.Target(page=links.rfc_page(name)).seen_from(links.FACETS)
        title = link(code(name), address) if rfc else code(name)
        covers = row.covers if row else rfc.title if rfc else ""
        rows.append([title, shown, sentence(covers), badge(rfc.phase, "ok") if rfc else badge("reserved", "none")])
    return table(["RFC", "Facet", "Covers", "State"], rows)


def _facet(material: Material, word: str, rfc: str) -> Iterator[str]:
    yield f"## {verbatim(word)} {{ #{links.encoded(word)} }}"
    yield ", ".join(link(text, target.seen_from(links.FACETS)) for text, target in _ways(material, word, rfc))
    sources = material.tree.sources.get(rfc, FacetSources())
    yield table(["Kind", "Files"], [[kind, _files(files)] for kind, files in sources.files.items() if files])


def _ways(material: Material, word: str, rfc: str) -> Iterator[tuple[str, links.Target]]:
    if rfc in material.tree.rfc_by_id:
        yield verbatim(rfc), links.Target(page=links.rfc_page(rfc))
    if any(module.name == word for module in material.contract):
        yield "contract", links.Target(page=links.CONTRACT, anchor=links.encoded(word))
    if material.proving(word):
        yield "laws and checks", links.Target(page=links.checks_page(word))
    if material.wrong(word):
        yield "wrong implementations", links.Target(page=links.wrong_page(word))


def _files(files: Sequence[str]) -> str:
    return "<br>".join(code(file) for file in files)
