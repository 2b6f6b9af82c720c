from sharedkv_conformance.markdown import render_markdown
from tests.conformance.test_report import FAILED


def test_the_verdict_comes_first() -> None:
    lines = render_markdown(FAILED).splitlines()

    assert lines[0] == "# Conformance of planner 1"
    assert lines[2].startswith("**full**: not conformant")


def test_a_failure_is_told_with_its_sentence_and_its_trace() -> None:
    text = render_markdown(FAILED)

    assert "### planning.count: fail" in text
    assert "- RFC-0002:C-SPLIT#S1: The answer MUST follow S1." in text
    assert "- Trace: `traces/x.jsonl`" in text


def test_every_statement_has_a_row() -> None:
    text = render_markdown(FAILED)

    assert all(f"| {statement['id']} |" in text for statement in FAILED["statements"])


def test_text_of_an_implementation_cannot_break_out() -> None:
    report = {**FAILED, "implementation": {**FAILED["implementation"], "name": "<b>x|y\n# z"}}
    text = render_markdown(report)  # type: ignore[arg-type]

    assert text.splitlines()[0] == "# Conformance of &lt;b&gt;x\\|y # z 1"
