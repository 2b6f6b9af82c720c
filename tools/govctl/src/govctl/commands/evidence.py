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
from govctl.selftest import SelfTest, SelfTestError, merged, parse_selftest, project
from govctl.tree import Tree
from govctl.writing import write_files

_AGAIN = "run the self-test again"


def run(arguments: Namespace, context: Context) -> int:
    """Compare the evidence with self-tests, or write it."""
    selftests: list[SelfTest] = []
    unusable: list[Diagnostic] = []
    for source in arguments.sources:
        try:
            selftests.append(parse_selftest(_text(source)))
        except SelfTestError as error:
            unusable.append(_of_selftest(source, str(error)))
    if unusable:
        return _report(context, unusable)
    try:
        selftest = merged(selftests)
    except SelfTestError as error:
        return _report(context, [_of_selftest(arguments.sources[-1], str(error))])
    tree = context.tree()
    if arguments.write:
        return _write(selftest, tree, arguments.sources[0], context)
    return _report(context, list(differences(selftest, tree)))


def _text(source: str) -> str:
    try:
        return Path(source).read_bytes().decode()
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SelfTestError(f"is not UTF-8 at offset {error.start}") from error


def _write(selftest: SelfTest, tree: Tree, source: str, context: Context) -> int:
    if not selftest.is_full:
        return _report(context, [_of_selftest(source, "stops at the first kill; evidence needs a full run")])
    if selftest.problems:
        return _report(
            context, [_of_selftest(source, f"found {selftest.problems} problems; evidence is of a sound suite")]
        )
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
