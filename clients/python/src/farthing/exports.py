"""A workspace as lines of JSON, and back into another."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from .answers import Item
from .calls import Call, Calls
from .errors import FarthingError
from .flow import Flow, Work
from .uploads import Labels, Target, ingest

FORMAT = 1
"""The format that is read."""
TAIL_BYTES = 1024
"""Longer than the last line."""
OF_THE_FILE = {400, 409, 412, 413, 415, 422}
"""Refusals of one file: the others may still be taken."""

ExportPath: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True)
class FailedImport:
    """A file that was not taken."""

    name: str
    error: FarthingError


@dataclass(frozen=True)
class ImportSummary:
    """What became of an export's files."""

    imported: int = 0
    unchanged: int = 0
    """They were there already."""
    failed: Sequence[FailedImport] = field(default_factory=list)
    without_file: Sequence[str] = field(default_factory=list)
    """Names of items without a file, as of uploads that had failed."""
    vectors_left_out: bool = False
    """The export has vectors, which an import leaves out: the server makes its own."""


@dataclass
class _LeftOut:
    """What of an export is not uploaded."""

    without_file: list[str] = field(default_factory=list)
    vectors: bool = False


@dataclass(frozen=True)
class _File:
    name: str
    content: bytes
    labels: Labels


def export_to(
    calls: Calls, path: str, headers: Mapping[str, str], target: ExportPath, content: bool, vectors: bool
) -> Flow[None]:
    """Raises source_unreadable when the answer ends too early. The file is there only once it is whole."""
    part = Path(f"{os.fspath(target)}.part")
    asked = f"content={'true' if content else 'false'}{'&vectors=true' if vectors else ''}"
    try:
        yield from calls.send(Call("GET", f"{path}/export?{asked}", headers, into=part))
        yield Work(lambda: _check_end(part))
        yield Work(lambda: os.replace(part, target))
    finally:
        part.unlink(missing_ok=True)


def import_from(calls: Calls, target: Target, source: ExportPath) -> Flow[ImportSummary]:
    """One file at a time, in the export's order. Files in archives come with these."""
    imported = unchanged = 0
    failed: list[FailedImport] = []
    left = _LeftOut()
    files = _files_in(source, left)
    while True:
        file: _File | None = yield Work(lambda: next(files, None))
        if file is None:
            return ImportSummary(imported, unchanged, failed, left.without_file, left.vectors)
        try:
            answer = yield from ingest(
                calls,
                target,
                file.content,
                name=file.name,
                wait=True,
                timeout=600,
                on_progress=None,
                labels=file.labels,
                idempotency_key=None,
            )
        except FarthingError as error:
            if error.status not in OF_THE_FILE and "job_id" not in error.facts:
                raise
            failed.append(FailedImport(file.name, error))
        else:
            if answer.get("duplicate"):
                unchanged += 1
            else:
                imported += 1


def _files_in(source: ExportPath, left: _LeftOut) -> Iterator[_File]:
    item: Item | None = None
    pieces: list[bytes] = []
    begun = over = False
    items = held = 0
    with Path(source).open("rb") as lines:
        for text in lines:
            line = _line(text)
            kind = line.get("type")
            if over or begun == (kind == "workspace"):
                raise _no_export()
            if kind == "workspace":
                if line.get("format") != FORMAT:
                    raise _unreadable(f"Exports of format {line.get('format')} cannot be read here.")
                if not line.get("content"):
                    raise _unreadable("The export holds no files: export with content.")
                left.vectors = bool(line.get("vectors"))
                begun = True
            elif kind == "content":
                if item is None or line.get("item") != item["id"]:
                    raise _no_export()
                pieces.append(_decoded(line.get("base64")))
                held += len(pieces[-1])
                if held > item["bytes"]:
                    raise _not_whole(item)
            elif kind in ("item", "end"):
                if item is not None:
                    yield from _files_of(item, b"".join(pieces), left.without_file)
                pieces, held = [], 0
                over = kind == "end"
                if over and line.get("items") != items:
                    said = line.get("items")
                    raise _unreadable(f"The export is to hold {said} items, and {items} came: it is damaged.")
                items += 1
                known = cast(Item, line.get("item"))
                item = known if kind == "item" and "parent_item_id" not in known else None
    if not over:
        raise _cut_short() if begun else _no_export()


def _files_of(item: Item, content: bytes, without_file: list[str]) -> Iterator[_File]:
    """The file under its name; the same bytes again under each further name."""
    if len(content) != item["bytes"]:
        if content:
            raise _not_whole(item)
        without_file.append(item["name"])
        return
    labels: Labels = {"metadata": item["metadata"]} if "metadata" in item else {}
    yield _File(item["name"], content, {**labels, "key": item["key"]} if "key" in item else labels)
    for alias in item.get("aliases", []):
        yield _File(alias, content, labels)


def _not_whole(item: Item) -> FarthingError:
    size = item["bytes"]
    return _unreadable(f"The file of {item['id']} is to have {size} bytes, and has others: the export is damaged.")


def _check_end(part: Path) -> None:
    with part.open("rb") as file:
        file.seek(max(0, part.stat().st_size - TAIL_BYTES))
        last = file.read().rstrip(b"\n").rsplit(b"\n", 1)[-1]
    if not last.startswith(b'{"type":"end"'):
        raise _cut_short()


def _line(text: bytes) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except ValueError:
        line = None
    if not isinstance(line, dict):
        raise _no_export()
    return line


def _decoded(text: object) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except binascii.Error as cause:
        raise _no_export() from cause


def _no_export() -> FarthingError:
    return _unreadable("This is no export of a workspace, or it is damaged.")


def _cut_short() -> FarthingError:
    return _unreadable("The export ends before its last line: it is incomplete.")


def _unreadable(detail: str) -> FarthingError:
    return FarthingError("source_unreadable", detail)
