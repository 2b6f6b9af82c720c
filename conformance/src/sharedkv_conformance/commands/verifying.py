"""`kvconform verify`: whether a report may be published."""

from __future__ import annotations

from argparse import Namespace

from sharedkv_conformance.catalogue import load_catalogue
from sharedkv_conformance.commands.reporting import read_report
from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.exits import Exit
from sharedkv_conformance.status import Status
from sharedkv_conformance.verification import verification_problems


def verify_command(options: Namespace, terminal: Terminal) -> Exit:
    """Verify a report: 0 where it is whole and its verdict follows from its statuses, whatever the verdict is."""
    report = read_report(options.report, terminal)
    problems = list(verification_problems(report, load_catalogue()))
    if problems:
        terminal.say([f"{options.report} may not be published:", *(f"  {problem}" for problem in problems)])
        return Exit.UNEXPECTED
    implementation, profile = report["implementation"], report["profiles"][0]
    terminal.say(f"verified: {implementation['name']} {implementation['version']}: {profile['headline']}")
    for refusal in report["claims"]["refusals"]:
        if refusal["status"] != Status.PASS:
            terminal.say(f"not refused: {refusal['check']} ended with {refusal['status']}: {refusal['message']}")
    return Exit.AS_EXPECTED
