"""`govctl render`: the specification as Markdown pages in a folder. Writes nothing outside that folder."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.render.cases import CasesError
from govctl.render.folder import ForeignFolderError, WriteError, differences, replace_folder
from govctl.render.material import gather
from govctl.render.site import PageClashError, site_files
from govctl.render.written import UnknownMarkerError


def run(arguments: Namespace, context: Context) -> int:
    """Render the tree, or compare a folder with what it would be."""
    tree = context.tree()
    if tree.is_partial:
        context.say("part of the tree could not be read, so nothing was rendered: see govctl check")
        return FINDINGS
    folder, shown = context.start / arguments.output, arguments.output
    try:
        files = site_files(gather(context.root, tree))
        if arguments.check:
            return _compare(folder, shown, files, context)
        replace_folder(folder, files)
    except (CasesError, ForeignFolderError, PageClashError, UnknownMarkerError, WriteError) as error:
        raise UsageError(str(error)) from error
    context.say(f"{shown} holds {len(files)} files")
    return CLEAN


def _compare(folder: Path, shown: str, files: Mapping[str, bytes], context: Context) -> int:
    odd = differences(folder, files) if folder.is_dir() else sorted(files)
    context.say(*(f"{shown}/{name} is not what the tree says: govctl render --output {shown}" for name in odd))
    if not odd:
        context.say(f"{len(files)} files are what the tree says")
    return FINDINGS if odd else CLEAN
