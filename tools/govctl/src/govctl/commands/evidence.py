"""`govctl evidence`: the result of a self-test as committed evidence. Writes only with `--write`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.comparison import differences
from govctl.findings import Diagnostic
from govctl.output.findings_text import summary
from govctl.places import Place
from govctl.rules.run import finding
from govctl.rules.table import COMPARISON
from govctl.selftest import SelfTest, SelfTestError, parse_selftest, project
from govctl.tree import Tree
from govctl.writing import write_files

_AGAIN = "run the self-test again"


def run(arguments: Namespace, context: Context) -> int:
    """Compare the evidence with a self-test, or write it."""
    source = Path(arguments.source)
    try:
        text = source.read_bytes().decode()
    except OSError as error:
        raise UsageError(f"cannot read {arguments.source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        return _report(context, [_of_selftest(arguments.source, f"is not UTF-8 at offset {error.start}")])
    try:
        selftest = parse_selftest(text)
    except SelfTestError as error:
        return _report(context, [_of_selftest(arguments.source, str(error))])
    tree = context.tree()
    if arguments.write:
        return _write(selftest, tree, arguments.source, context)
    return _report(context, list(differences(selftest, tree)))


def _write(selftest: SelfTest, tree: Tree, source: str, context: Context) -> int:
    if not selftest.is_full:
        return _report(context, [_of_selftest(source, "stops at the first kill; evidence needs a full run")])
    if tree.is_partial:
        return _report(context, [_of_selftest(source, "part of the tree could not be read: see govctl check")])
    evidence = project(selftest, tree)
    files = {tree.config.evidence_file(rfc): item.canonical() for rfc, item in evidence.items()}
    write_files({context.root / file: text for file, text in files.items()})
    nothing = ["no RFC of the self-test has a facet in gov/govctl.toml"]
    context.say_all([f"wrote {file}" for file in files] or nothing)
    return CLEAN if files else FINDINGS


def _of_selftest(source: str, message: str) -> Diagnostic:
    return Diagnostic(
        place=Place(file=Path(source).name), subject="self-test", message=f"the self-test {message}", mend=_AGAIN
    )


def _report(context: Context, found: list[Diagnostic]) -> int:
    findings = [finding(COMPARISON, diagnostic, COMPARISON.severity) for diagnostic in found]
    context.say_findings(sorted(findings, key=lambda item: item.order))
    context.say(summary(findings) if findings else "the evidence is what the self-test shows")
    return FINDINGS if findings else CLEAN
