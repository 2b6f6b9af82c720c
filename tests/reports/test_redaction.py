import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.contract import Description
from sharedkv_conformance.redaction import Redaction, redaction_for
from sharedkv_conformance.report import implementation_form
from sharedkv_conformance.status import Status
from tests.conformance.small_world import Scripted
from tests.conformance.test_report import reported

REDACT = Redaction()


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("no such file: '/home/me/engine/lib.so'", "no such file: '.../lib.so'"),
        ('File "/opt/x/adapter.py", line 3', 'File ".../adapter.py", line 3'),
        ("cannot open /tmp", "cannot open .../tmp"),
        ("see ~/engine/log.txt", "see .../log.txt"),
        ("at C:\\Users\\me\\engine.dll now", "at .../engine.dll now"),
        ("unix:/run/me/x.sock", "unix:.../x.sock"),
        ("file:///home/me/x.txt", ".../x.txt"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("https://me:pass@example.org/a", "https://[redacted]@example.org/a"),
        ("2/4 pages and/or traces/x.jsonl", "2/4 pages and/or traces/x.jsonl"),
        ("api_key=abc123, device=cuda", "api_key=[redacted], device=cuda"),
        ('{"hf_token": "abc"}', '{"hf_token": [redacted]}'),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"),
        ("1 tokens are 1 new pages", "1 tokens are 1 new pages"),
        ("prefix_tokens: wanted 4", "prefix_tokens: wanted 4"),
        ("tokenizer=fast, author: me", "tokenizer=fast, author: me"),
        ("ENGINE_API_KEY='a b'", "ENGINE_API_KEY=[redacted]"),
    ],
)
def test_paths_and_secrets_are_taken_out_and_nothing_else(text: str, published: str) -> None:
    assert REDACT(text) == published


@given(st.text(alphabet="/.~abC:\\ '\"token=,", max_size=40))
def test_taking_out_twice_changes_nothing_more(text: str) -> None:
    once = REDACT(text)

    assert REDACT(once) == once


def test_values_of_secret_variables_are_hidden_wherever_they_occur() -> None:
    redact = redaction_for({"ENGINE_TOKEN": "swordfish", "HOME": "elsewhere", "SHORT_SECRET": "abc"})

    assert redact("swordfish elsewhere abc") == "[redacted] elsewhere abc"


def test_variables_that_count_tokens_or_name_authors_are_not_secret() -> None:
    redact = redaction_for({"MAX_TOKENS": "100000", "TOKENIZER": "sentence", "GIT_AUTHOR": "somebody"})

    assert redact.secrets == ()


def test_what_an_implementation_says_of_itself_is_redacted() -> None:
    described = Description(
        name="engine", version="1", features=frozenset(), environment={"lib": "/usr/lib/x.so", "API_KEY": "k"}
    )

    assert implementation_form(described, REDACT)["environment"] == {"lib": ".../x.so", "API_KEY": "[redacted]"}


def test_no_message_in_a_report_holds_a_path() -> None:
    report: Any = reported(Scripted(message="lost /home/me/x", planning_count=Status.ERROR))

    assert "/home/me" not in json.dumps(report)


PARTS = ("a", "-", "a-", "token-", "a.", "token=", "token='", "/a", "§/", "file:/", "c:/a", " ")


@pytest.mark.parametrize("part", PARTS)
def test_the_time_to_redact_grows_with_the_text_and_not_with_its_square(part: str) -> None:
    text = part * (400_000 // len(part))
    begin = time.process_time()
    REDACT(text)

    assert time.process_time() - begin < 5


@pytest.mark.parametrize("text", ["url=token=abcdef", "x: api-key: abcdef", "a_http://me:abcdef@example.org"])
def test_a_secret_after_another_name_is_taken_out(text: str) -> None:
    assert "abcdef" not in REDACT(text)


@pytest.mark.parametrize("length", range(1_960, 2_000))
def test_what_is_published_is_not_changed_by_taking_out_again(length: int) -> None:
    report: Any = reported(Scripted(message="x" * length + " token=abcdefgh /home/me/x", planning_count=Status.ERROR))
    message = report["checks"][0]["message"]

    assert REDACT(message) == message
    assert "abc" not in message
