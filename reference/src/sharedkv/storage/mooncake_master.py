"""A master of a Mooncake store as a child of this process, on the loopback address: for tests and for one machine.

Knows the program that comes with the package. Does not know the store behind it. The master ends with this process,
however that ends: it stands behind a shell that waits for the end of a pipe.
"""

from __future__ import annotations

import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
_ENDS_WITH_ITS_PARENT = '"$0" "$@" & read -r _; kill -9 $!'
_LEASE_MS = 5_000


class MasterFailedError(Exception):
    """The master did not come up; `log` is what it wrote."""

    def __init__(self, what: str, log: str) -> None:
        super().__init__(what, log)
        self.what = what
        self.log = log

    def __str__(self) -> str:
        return f"mooncake_master: {self.what}: {self.log[-2_000:]}"


class Master:
    """A running master; `address` is what clients are told. Its log goes to `log_path`."""

    def __init__(self, log_path: Path, deadline_s: float = 10.0) -> None:
        self._log_path = log_path
        port, metrics_port = _free_port(), _free_port()
        self.address = f"{HOST}:{port}"
        options = {
            "rpc_port": port,
            "rpc_address": HOST,
            "metrics_port": metrics_port,
            "metrics_host": HOST,
            "default_kv_lease_ttl": _LEASE_MS,
        }
        command = [str(_program()), *(f"--{name}={value}" for name, value in options.items())]
        with log_path.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a program of an installed package
                ["/bin/sh", "-c", _ENDS_WITH_ITS_PARENT, *command], stdin=subprocess.PIPE, stdout=log, stderr=log
            )
        self._wait(port, time.monotonic() + deadline_s)

    def stop(self) -> None:
        """End the master; what its store held is gone."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait(self, port: int, ends_at: float) -> None:
        while True:
            try:
                socket.create_connection((HOST, port), timeout=1).close()
            except OSError:
                if time.monotonic() > ends_at:
                    self.stop()
                    raise MasterFailedError("does not listen", self._log_path.read_text()) from None
                time.sleep(0.01)
            else:
                return


def _program() -> Path:
    spec = find_spec("mooncake")
    if spec is None or spec.origin is None:
        raise MasterFailedError("the package mooncake is not installed", "")
    return Path(spec.origin).parent / "mooncake_master"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
