"""Public reports about tools like this one: each is a test of its whole kind, here or where its subject is built."""

from importlib import import_module

import pytest

from govctl.rules.table import RULES

RENDERER, RESULTS, LATER = "renderer", "results of test runs", "commands that write TOML"
CASES: dict[str, tuple[str, ...]] = {
    "SP-01": (
        "G0102",
        "test_malformed.test_every_reader_treats_encodings_alike",
        "test_malformed.test_what_is_no_usable_toml_is_a_finding",
    ),
    "SP-02": (
        "G0109",
        "test_malformed.test_crlf_and_lf_give_the_same_result",
        "test_lock.test_a_line_break_is_no_change",
        "test_catalogue.test_line_ends_do_not_make_it_stale",
    ),
    "SP-04": (LATER, "test_lock.test_what_is_written_is_read_back"),
    "SP-05": ("G0204", "test_malformed.test_a_date_has_the_documented_forms"),
    "SP-06": (
        "G0202",
        "test_schemas.test_an_unknown_key_is_refused_at_every_level",
        "test_schemas.test_schema_and_model_agree_on_every_wrong_value",
        "test_schemas.test_every_table_is_closed_and_every_key_described",
    ),
    "SP-08": (
        "G0101",
        "test_malformed.test_every_reader_treats_encodings_alike",
        "test_cli.test_output_is_the_same_in_every_locale_and_hash_order",
        "test_cli.test_output_that_the_terminal_cannot_show_is_no_crash",
    ),
    "SP-09": (
        "G0104",
        "test_malformed.test_links_are_not_followed",
        "test_malformed.test_a_link_that_leads_nowhere_is_a_finding",
        "test_rules.test_a_copy_of_a_file_is_a_duplicate_that_names_both_places",
    ),
    "SP-11": (
        "test_prose.test_text_that_looks_like_structure_stays_text",
        "test_prose.test_code_headings_and_tables_are_not_normative",
    ),
    "SP-12": (RENDERER,),
    "SP-14": (RENDERER,),
    "SP-16": (RENDERER,),
    "SP-17": (RENDERER,),
    "SP-18": (RENDERER, "test_grammar.test_an_illegal_id_is_illegal_in_text_and_in_source"),
    "SP-20": (RESULTS,),
    "SP-21": (RESULTS, "G0504", "test_coverage.test_a_skipped_check_covers_nothing"),
    "SP-23": (RESULTS,),
    "SP-24": (RESULTS,),
    "SP-26": (
        RESULTS,
        "test_scanner.test_a_check_that_does_not_run_is_known_as_skipped",
        "test_coverage.test_a_check_that_did_not_pass_does_not_count_as_passing",
    ),
    "SP-28": (
        "test_cli.test_coverage_fails_for_an_rfc_that_must_be_proven_and_is_not",
        "test_coverage.test_a_deleted_check_leaves_its_statement_unchecked",
    ),
    "SP-30": (RESULTS, "test_scanner.test_a_class_that_is_skipped_skips_its_checks"),
    "SP-32": ("G0609", "G0309", "test_evidence.test_each_difference_is_named"),
    "SP-33": ("test_cli.test_the_result_does_not_depend_on_the_folder",),
    "SP-34": (
        "test_grammar.test_a_citation_is_a_whole_id",
        "test_grammar.test_bare_words_that_look_like_an_id_are_malformed",
        "test_rules.test_a_rejected_reference_of_every_kind_is_found",
    ),
    "SP-35": ("G0307", "G0309", "G0310", "test_rules.test_a_rejected_reference_of_every_kind_is_found"),
    "SP-37": (
        "G0204",
        "G0408",
        "G0415",
        "test_grammar.test_versions_are_ordered_by_number",
        "test_life.test_a_statement_is_not_older_than_its_clause_and_not_newer_than_its_rfc",
    ),
    "SP-39": (
        "test_cli.test_output_is_the_same_in_every_locale_and_hash_order",
        "test_findings_forms.test_every_form_is_the_same_twice",
        "test_rules.test_findings_are_sorted_by_place",
    ),
    "SP-40": (
        "test_writing.test_a_failure_leaves_no_temporary_file_and_no_half",
        "test_writing.test_a_failure_after_the_first_file_puts_it_back",
        "test_cli.test_lock_writes_all_or_nothing",
    ),
    "SP-42": ("G0307", "test_findings_forms.test_every_form_is_the_same_twice"),
    "SP-43": ("G0302", "test_rules.test_a_copy_of_a_file_is_a_duplicate_that_names_both_places"),
    "SP-44": ("G0302", "test_malformed.test_two_globs_for_one_file_read_it_once"),
    "SP-46": (
        "test_grammar.test_a_legal_id_is_legal_in_text_and_in_source",
        "test_grammar.test_an_illegal_id_is_illegal_in_text_and_in_source",
    ),
    "SP-48": ("test_grammar.test_a_citation_is_a_whole_id",),
    "SP-49": ("G0308", "test_grammar.test_a_malformed_citation_is_repaired_to_what_was_meant"),
}


@pytest.mark.parametrize(("case", "covered_by"), CASES.items(), ids=CASES)
def test_a_case_is_covered_by_rules_and_tests_that_exist(case: str, covered_by: tuple[str, ...]) -> None:
    codes = {rule.code for rule in RULES}
    tests = [name for name in covered_by if name not in {*codes, RENDERER, RESULTS, LATER}]

    assert covered_by, case
    for name in tests:
        module, _, function = name.partition(".")
        assert callable(getattr(import_module(f"tests.govctl.{module}"), function)), name


def test_all_33_cases_have_their_place() -> None:
    assert len(CASES) == 33
