"""A program that serves the model and goes wrong in one way after so many requests: `rogue.py WAY [REQUESTS]`.

Knows the two descriptors of the wire and nothing of who runs it.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

FOR_EVER = 1_000
LINE = b"x" * 1_000 + b"\n"


def flood() -> None:
    """Write more to stdout and stderr than any pipe holds."""
    for _ in range(1_000):
        os.write(1, LINE)
        os.write(2, LINE)


def crash() -> None:
    """Say goodbye and die by a signal."""
    os.write(2, b"no more memory\n")
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    """Say goodbye and exit."""
    os.write(2, b"device lost\n")
    os._exit(3)


def abandon() -> None:
    """Exit, and leave a child that holds every descriptor."""
    if os.fork():
        os._exit(3)
    time.sleep(FOR_EVER)


def answer_and_leave(writing: int, line: bytes) -> None:
    """Answer, exit, and leave a child that holds every descriptor."""
    os.write(writing, json.dumps({"id": json.loads(line)["id"], "ok": None}).encode() + b"\n")
    abandon()


def stick() -> None:
    """Hang, deaf to every request to end, and leave a note that it has come to this."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    Path(f"stuck-{os.getpid()}").touch()
    time.sleep(FOR_EVER)


def shut(writing: int) -> None:
    """Close the wire and go on."""
    os.close(writing)
    time.sleep(FOR_EVER)


def ways(writing: int, line: bytes) -> Mapping[str, Callable[[], object]]:
    """Return every way to go wrong at one request."""
    return {
        "flood": flood,
        "crash": crash,
        "leave": leave,
        "abandon": abandon,
        "answer": lambda: answer_and_leave(writing, line),
        "stick": stick,
        "hang": lambda: time.sleep(FOR_EVER),
        "shut": lambda: shut(writing),
        "garbage": lambda: os.write(writing, b"I0101 device 0: ready\n"),
        "unasked": lambda: os.write(writing, b'{"id":123456,"ok":null}\n'),
        "misused": lambda: os.write(writing, json.dumps(misused(line)).encode() + b"\n"),
        **dict.fromkeys(["right", "sour", "stay"], lambda: None),
    }


def misused(line: bytes) -> dict[str, object]:
    """Return an answer that blames who asked."""
    return {"id": json.loads(line)["id"], "error": {"kind": "protocol", "message": "no idea"}}


def main() -> None:
    """Serve until it is time to go wrong."""
    way, requests = sys.argv[1], int((sys.argv[2:] or ["20"])[0])
    if way == "early":
        sys.exit("no device")
    reading, writing = int(os.environ["SHAREDKV_WIRE_IN"]), int(os.environ["SHAREDKV_WIRE_OUT"])
    if way == "slow":
        time.sleep(FOR_EVER)
    from sharedkv_conformance.model.implementation import model  # noqa: PLC0415 - the early and the slow need none
    from sharedkv_conformance.wire.server import Server  # noqa: PLC0415 - the early and the slow need none

    def lines() -> Iterator[bytes]:
        with os.fdopen(reading, "rb") as stream:
            for number, line in enumerate(stream):
                if number >= requests:
                    ways(writing, line)[way]()
                if number < requests or way != "misused":
                    yield line

    Server(model()).serve(lines(), lambda line: os.write(writing, line))
    if way == "stay":
        time.sleep(FOR_EVER)
    sys.exit(5 if way == "sour" else 0)


main()
