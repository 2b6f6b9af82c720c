"""A record for tests: small, and with every kind of cell."""

from benchmarks.machine import Machine
from benchmarks.record import Record
from benchmarks.result import Column, Goal, Result, Table

MACHINE = Machine(
    cpu="Example 9000",
    cores=2,
    memory_gib=16.0,
    system="Linux x86_64",
    python="CPython 3.11.7",
    packages={"numpy": "2.0.0"},
    load=0.5,
)
TABLE = Table(
    title="Two shapes",
    columns=(Column(name="pool"), Column(name="pages"), Column(name="time", unit="us"), Column(name="ratio")),
    rows=(("fresh", 60_000, 41.234, 0.0512), ("half | free", 7, 1234.5, "")),
)
RECORD = Record(
    result=Result(
        name="example",
        title="An example",
        about="What was done.",
        tables=(TABLE,),
        goals=(
            Goal(text="is fast", measured=41.2, limit=53.0, unit="us"),
            Goal(text="is faster", measured=0.2, limit=0.1),
        ),
    ),
    machine=MACHINE,
    command="python -m benchmarks example",
    date="2026-11-29",
    quick=False,
)
