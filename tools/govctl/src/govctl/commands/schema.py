"""`govctl schema`: the JSON Schemas, generated from the models. Writes only with `--write`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from govctl.commands.context import CLEAN, FINDINGS, Context
from govctl.schema_writer import schema_texts
from govctl.writing import write_files


def run(arguments: Namespace, context: Context) -> int:
    """Compare the schema files with the models, or write them."""
    folder = Path(arguments.directory) if arguments.directory else context.root / "schema"
    shown = arguments.directory or "schema"
    texts = schema_texts()
    if arguments.write:
        write_files({folder / name: text for name, text in texts.items()})
        context.say(*(f"wrote {shown}/{name}" for name in texts))
        return CLEAN
    stale = [name for name, text in texts.items() if not _equals(folder / name, text)]
    context.say(*(f"{shown}/{name} is not what the models say: govctl schema --write" for name in stale))
    if not stale:
        context.say(f"{len(texts)} schemas are what the models say")
    return FINDINGS if stale else CLEAN


def _equals(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()
