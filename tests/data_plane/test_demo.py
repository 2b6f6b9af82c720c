"""The demonstration: ranks that share do what one rank does, and a mistake of theirs is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import cli
from sharedkv.cli import DIFFERENT, EQUAL, MOST_SEED, UNWRITTEN, USAGE, main
from sharedkv.demo.running import run
from sharedkv.demo.scenario import scenario
from sharedkv.demo.settings import LAYOUTS, MISTAKES, Settings


@given(
    seed=st.integers(0, 1 << 16),
    ranks=st.integers(2, 6),
    requests=st.integers(1, 4),
    layout=st.sampled_from(LAYOUTS),
)
@settings(max_examples=12)
def test_any_batch_has_the_outcome_of_one_rank(seed: int, ranks: int, requests: int, layout: str) -> None:
    story = run(Settings(seed=seed, ranks=ranks, requests=requests, layout=layout))

    assert [facts.request for facts in story.prompts if not facts.difference.is_none] == []


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("seed", range(3))
def test_a_mistake_is_found(mistake: str, seed: int) -> None:
    assert not run(Settings(seed=seed, mistake=mistake)).is_equal


@given(seed=st.integers(0, 1 << 16), requests=st.integers(1, 5))
def test_every_scenario_has_a_cached_prefix_and_more_than_one_chunk(seed: int, requests: int) -> None:
    drawn = scenario(Settings(seed=seed, requests=requests))
    rounds = list(drawn.rounds())

    assert len(rounds) >= 3
    assert any(chunk.start == chunk.prompt.cached_tokens > 0 for chunk in rounds[1])
    assert any(chunk.start > chunk.prompt.cached_tokens for chunk in rounds[2])


@given(seed=st.integers(0, 1 << 16), requests=st.integers(1, 5))
def test_the_chunks_of_a_prompt_are_all_of_its_new_tokens_in_order(seed: int, requests: int) -> None:
    drawn = scenario(Settings(seed=seed, requests=requests))

    for prompt in drawn.prompts:
        chunks = [chunk for of_round in drawn.rounds() for chunk in of_round if chunk.prompt == prompt]
        covered = [position for chunk in chunks for position in range(chunk.start, chunk.end)]
        assert covered == list(range(prompt.cached_tokens, len(prompt.tokens)))


def test_exchanges_of_a_layer_do_not_grow_with_the_batch() -> None:
    counts = {facts.exchanges for requests in (1, 4) for facts in run(Settings(requests=requests)).rounds}

    assert counts == {2}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["demo", *arguments])
    return status, capsys.readouterr().out


def test_equal_outcomes_exit_with_zero_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = told(capsys)

    assert status == EQUAL
    assert "EQUAL to one rank that holds everything" in text.splitlines()[-2]


def test_different_outcomes_exit_with_one_and_name_the_requests(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = told(capsys, "--mistake", "wrong-lanes")

    assert status == DIFFERENT
    assert "DIFFERENT from one rank that holds everything:\n  r0: " in text


def test_equal_commands_print_equal_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "--seed", "5") == told(capsys, "--seed", "5")


def test_programs_get_the_numbers_that_people_get(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = told(capsys, "--format", "json", "--ranks", "3", "--requests", "2")
    story: dict[str, Any] = json.loads(text)

    assert story["is_equal"] is True
    assert story["settings"]["ranks"] == 3
    for facts in story["prompts"]:
        assert sum(facts["rows_by_rank"]) == facts["extend_tokens"]
        assert sum(facts["pages_by_lane"]) == -(-facts["extend_tokens"] // 4)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--ranks", "1"],
        ["--ranks", "two"],
        ["--ranks", "\uff14"],
        ["--layout", "mha_bf16"],
        ["--seed=-1"],
        ["--seed", str(MOST_SEED + 1)],
        ["--seed", "9" * 5000],
    ],
)
def test_wrong_usage_exits_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["demo", *arguments] if arguments else [])

    assert caught.value.code == USAGE
    assert "usage: " in capsys.readouterr().err


@pytest.mark.parametrize("seed", [0, MOST_SEED])
def test_the_ends_of_the_range_of_seeds_are_prompts_and_weights_as_well(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    status, text = told(capsys, "--seed", str(seed), "--requests", "1", "--layers", "1")

    assert (status, f"1 layer, seed {seed})" in text) == (EQUAL, True)


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_says_what_each_exit_status_means(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)

    shown = capsys.readouterr().out
    assert [f"\n  {status}  " in shown for status in (EQUAL, DIFFERENT, USAGE, UNWRITTEN)] == [True] * 4


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert (caught.value.code, capsys.readouterr().out) == (0, f"sharedkv {metadata.version('sharedkv')}\n")


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--help"])

    assert caught.value.code == 0
    assert "sharedkv demo --mistake wrong-lanes" in capsys.readouterr().out


def test_without_torch_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "torch" else object())

    assert main(["demo"]) == USAGE
    assert "needs torch" in capsys.readouterr().err


def test_the_arguments_are_those_that_the_demonstration_knows() -> None:
    assert (cli.LAYOUTS, cli.MISTAKES) == (LAYOUTS, MISTAKES)


def test_the_command_line_imports_no_torch_before_it_is_needed() -> None:
    source = Path(cli.__file__).parents[1]
    program = "import sys, sharedkv.cli; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(source)}, check=False)

    assert done.returncode == 0


def run_as_a_module(*arguments: str, stdout: int | IO[str] = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sharedkv", *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])},
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


SMALL = ("demo", "--requests", "1", "--layers", "1")


def test_it_runs_as_a_module() -> None:
    done = run_as_a_module(*SMALL)

    assert (done.returncode, "EQUAL" in done.stdout) == (EQUAL, True)


@pytest.mark.parametrize("arguments", [SMALL, ("--help",), ("--version",)])
def test_an_outcome_that_cannot_be_written_is_told_in_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run_as_a_module(*arguments, stdout=full)

    assert (done.returncode, done.stderr.count("\n")) == (UNWRITTEN, 1)
    assert done.stderr.startswith("sharedkv: standard output cannot be written: ")


def test_a_reader_that_went_away_does_not_change_the_outcome() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = run_as_a_module(*SMALL, stdout=pipe)

    assert (done.returncode, done.stderr) == (EQUAL, "")
