"""The one table of rules: code, name, default severity, function, and why it matters.

Knows every rule. A new rule is a function, a row here, and a folder `examples/<CODE>/` with a valid and an invalid
tree. Codes are permanent: none is reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from govctl.findings import Diagnostic, Severity
from govctl.rules import (
    amendment,
    catalogue,
    coverage,
    cycles,
    dialect,
    evidence,
    files,
    ids,
    life,
    locked,
    references,
    suppressions,
    text,
    wording,
)
from govctl.tree import Tree

RuleFunction = Callable[[Tree], Iterator[Diagnostic]]

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule; its severity counts where the diagnostic brings none and the settings have no other."""

    code: str
    name: str
    severity: Severity
    check: RuleFunction
    why: str

    @property
    def summary(self) -> str:
        """Say in one line what must hold."""
        return (self.check.__doc__ or "").strip().partition("\n")[0]


def _rule(code: str, name: str, severity: Severity, check: RuleFunction, why: str) -> Rule:
    return Rule(code=code, name=name, severity=severity, check=check, why=why)


def settings_name_rules(tree: Tree) -> Iterator[Diagnostic]:
    """Every severity and every suppression in the settings is that of a rule."""
    known = sorted(word for rule in RULES for word in (rule.code, rule.name))
    document = tree.config.document
    named = [(name, f"severity {name}", document.key_place(("severity", name))) for name in tree.config.severity]
    named += [
        (item.code, f"suppression of {item.code}", document.value_place(("suppress", index, "code")))
        for index, item in enumerate(tree.config.suppressions)
    ]
    for name, subject, place in named:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            yield Diagnostic(
                place=place,
                subject=subject,
                message=f"no rule is called {name}",
                mend=f"did you mean {near[0]}?" if near else "see: govctl list rules",
            )


UNUSED_SUPPRESSION = _rule(
    "G0206", "suppression-unused", _WARNING, suppressions.suppressions_are_used, "it would hide the next fault"
)

_FILES = (
    _rule("G0101", "not-utf8", _ERROR, files.files_are_utf8, "every reader must see the same characters"),
    _rule(
        "G0102",
        "byte-order-mark",
        _ERROR,
        files.files_have_no_byte_order_mark,
        "readers of TOML disagree about the mark",
    ),
    _rule("G0103", "toml-syntax", _ERROR, files.files_are_toml, "a file that is not TOML says nothing"),
    _rule("G0104", "unreadable", _ERROR, files.files_can_be_read, "what cannot be read cannot be checked"),
    _rule(
        "G0105",
        "stray-file",
        _ERROR,
        files.files_belong_here,
        "a file that is silently left out looks as if it counted",
    ),
    _rule("G0106", "schema-line", _WARNING, files.files_name_their_schema, "editors find the schema by this line"),
    _rule("G0107", "python-syntax", _ERROR, files.sources_are_python, "the marks in the file would be lost"),
    _rule("G0108", "empty-glob", _WARNING, files.globs_match, "a misspelt glob makes checks disappear without a word"),
    _rule("G0109", "carriage-return", _ERROR, files.files_have_plain_line_ends, "readers disagree where a line ends"),
    _rule("G0110", "toml-dialect", _NOTE, dialect.files_are_toml_1_0, "editors and other tools may refuse the file"),
)
_SCHEMA = (
    _rule("G0201", "schema-value", _ERROR, files.values_follow_the_schema, "every reader relies on the schema"),
    _rule("G0202", "unknown-key", _ERROR, files.keys_are_known, "a misspelt key would be ignored without a word"),
    _rule("G0203", "missing-key", _ERROR, files.keys_are_present, "every reader relies on the key"),
    _rule("G0204", "date", _ERROR, files.dates_are_real, "a date that does not exist orders nothing"),
    _rule("G0205", "unknown-rule", _ERROR, settings_name_rules, "the setting would change nothing"),
    UNUSED_SUPPRESSION,
    _rule("G0207", "suppression-past", _ERROR, suppressions.suppressions_end, "what was borne for a while would stay"),
    _rule(
        "G0208",
        "suppression-scope",
        _ERROR,
        suppressions.suppressions_have_a_scope,
        "it would hide findings that nobody has seen",
    ),
)
_IDS = (
    _rule("G0301", "id-of-file", _ERROR, ids.ids_equal_file_names, "whoever knows an id must find its file"),
    _rule("G0302", "duplicate-id", _ERROR, ids.ids_are_unique, "an id with two meanings proves nothing about either"),
    _rule(
        "G0303", "clause-missing", _ERROR, ids.listed_clauses_exist, "a listed clause without a file demands nothing"
    ),
    _rule(
        "G0304", "clause-not-listed", _ERROR, ids.clauses_are_listed, "readers of the RFC would never see the clause"
    ),
    _rule("G0305", "clause-listed-twice", _ERROR, ids.clauses_are_listed_once, "a reader would see the clause twice"),
    _rule("G0306", "clause-without-rfc", _ERROR, ids.clause_folders_have_an_rfc, "phase and version come from the RFC"),
    _rule("G0307", "unknown-reference", _ERROR, references.references_exist, "the reference leads nowhere"),
    _rule(
        "G0308",
        "malformed-reference",
        _ERROR,
        references.references_are_wellformed,
        "no tool would follow the reference",
    ),
    _rule("G0309", "unknown-statement", _ERROR, references.marks_name_statements, "the mark proves nothing"),
    _rule(
        "G0310",
        "withdrawn-statement",
        _ERROR,
        references.marks_name_live_statements,
        "it holds code to a rule that is gone",
    ),
    _rule("G0311", "duplicate-slug", _ERROR, references.slugs_are_unique, "reports could not tell the two apart"),
    _rule("G0312", "mark-not-literal", _ERROR, references.marks_are_literal, "source is read, not run"),
    _rule("G0313", "mark-malformed", _ERROR, references.marks_are_wellformed, "the mark would be lost"),
    _rule("G0314", "unknown-check", _ERROR, references.checks_depend_on_checks, "the check could never be unblocked"),
    _rule(
        "G0315", "facet-mismatch", _ERROR, ids.facets_and_rfcs_agree, "one word must lead to the RFC and to its sources"
    ),
    _rule("G0316", "successor-cycle", _ERROR, cycles.successors_lead_on, "readers would never reach what is in force"),
    _rule("G0317", "dependency-cycle", _ERROR, cycles.dependencies_end, "none of the checks could ever run"),
)
_TEXT = (
    _rule("G0401", "keyword-count", _ERROR, text.statements_hold_one_keyword, "one verdict needs one demand"),
    _rule("G0402", "one-sentence", _ERROR, text.statements_are_one_sentence, "one verdict needs one demand"),
    _rule("G0403", "keyword-outside", _ERROR, text.keywords_stand_in_statements, "no check could name the demand"),
    _rule(
        "G0404",
        "informative-statements",
        _ERROR,
        text.informative_clauses_have_no_statements,
        "readers skip what is informative",
    ),
    _rule(
        "G0405",
        "no-statement",
        _ERROR,
        text.normative_clauses_have_statements,
        "a clause that demands nothing binds nobody",
    ),
    _rule("G0406", "since-version", _ERROR, life.since_is_a_version_of_the_rfc, "readers ask what held in a version"),
    _rule("G0407", "since-missing", _ERROR, life.clauses_have_a_since, "readers ask what held in a version"),
    _rule(
        "G0408", "changelog", _ERROR, life.changelog_has_the_version, "a version without an entry changed in silence"
    ),
    _rule(
        "G0409",
        "successor",
        _ERROR,
        life.superseded_clauses_have_a_successor,
        "readers must find what took the clause's place",
    ),
    _rule("G0410", "status-and-phase", _ERROR, life.status_allows_the_phase, "the two would promise different things"),
    _rule("G0411", "lower-case-keyword", _NOTE, wording.keywords_are_upper_case, "readers take it for a demand"),
    _rule("G0412", "placeholder", _ERROR, wording.nothing_is_left_to_write, "a promise with a hole is none"),
    _rule("G0413", "vague-word", _NOTE, wording.statements_are_exact, "two readers would build two things"),
    _rule("G0414", "long-statement", _NOTE, wording.statements_are_short, "what is long holds more than one demand"),
    _rule("G0415", "date-order", _ERROR, life.dates_are_in_order, "readers ask what held on a day"),
)
_COVERAGE = (
    _rule("G0501", "must-unchecked", _ERROR, coverage.must_statements_are_checked, "the sentence cannot fail"),
    _rule(
        "G0502",
        "must-without-mutant",
        _ERROR,
        coverage.must_statements_have_mutants,
        "nobody knows that its checks can fail",
    ),
    _rule("G0503", "should-unchecked", _WARNING, coverage.should_statements_are_checked, "the sentence cannot fail"),
    _rule("G0504", "check-skipped", _WARNING, coverage.checks_run, "a check that does not run shows nothing"),
    _rule("G0505", "mutant-without-check", _ERROR, coverage.mutants_have_a_check, "nothing can kill the mutant"),
    _rule(
        "G0506",
        "row-without-home",
        _ERROR,
        coverage.backlog_rows_have_a_home,
        "no row of the backlog may be lost in silence",
    ),
)
_LOCK = (
    _rule("G0601", "lock-line", _ERROR, files.lock_is_readable, "the lock is the only place of digests"),
    _rule(
        "G0602",
        "sentence-changed",
        _ERROR,
        locked.sentences_are_as_locked,
        "its checks may test what it no longer says",
    ),
    _rule("G0603", "statement-new", _ERROR, locked.statements_are_locked, "a change of the sentence would go unseen"),
    _rule(
        "G0604", "statement-removed", _ERROR, locked.locked_statements_stay, "ids are permanent, and none is used twice"
    ),
    _rule(
        "G0605",
        "statement-renumbered",
        _ERROR,
        locked.statements_keep_their_number,
        "checks would test another sentence",
    ),
)
_EVIDENCE = (
    _rule("G0606", "evidence-missing", _ERROR, evidence.stable_rfcs_have_evidence, "stable means proven"),
    _rule("G0607", "evidence-malformed", _ERROR, files.evidence_is_readable, "only govctl writes evidence"),
    _rule("G0608", "evidence-stale", _ERROR, evidence.evidence_is_fresh, "it shows what was, not what is"),
    _rule(
        "G0609", "check-not-passing", _ERROR, evidence.checks_pass, "the reference does not do what the text demands"
    ),
    _rule("G0610", "mutant-alive", _ERROR, evidence.mutants_die, "the checks cannot tell right from wrong"),
)

_VERSIONS = (
    _rule("G0612", "catalogue-stale", _ERROR, catalogue.catalogue_is_fresh, "the suite would speak of other sentences"),
    _rule("G0613", "amendment", _ERROR, amendment.sealed_versions_stay, "one version would promise two things"),
    _rule("G0614", "bump-too-small", _ERROR, amendment.bumps_are_large_enough, "a patch is taken to be harmless"),
    _rule("G0615", "version-not-sealed", _ERROR, amendment.versions_are_sealed, "an amendment of it would go unseen"),
)

RULES: tuple[Rule, ...] = (*_FILES, *_SCHEMA, *_IDS, *_TEXT, *_COVERAGE, *_LOCK, *_EVIDENCE, *_VERSIONS)

COMPARISON = _rule(
    "G0611",
    "evidence-differs",
    _ERROR,
    evidence.no_difference,
    "equal results give equal bytes, so one of the two is wrong",
)  # of `govctl evidence --compare` alone: it needs a self-test, which a tree does not hold
