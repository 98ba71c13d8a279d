"""Uploads a file and waits until it is searchable."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, cast
from urllib.parse import quote

from typing_extensions import TypedDict

from .answers import IngestResponse, Item, Job
from .calls import Call, Calls
from .errors import FarthingError
from .flow import Flow, Pause, Upload

Source: TypeAlias = "str | os.PathLike[str] | bytes"
"""A file's path, or its bytes."""

WAIT_S = 60
POLL_FIRST_S = 0.05
POLL_MAX_S = 2.0
SLOWEST_BYTES_PER_S = 16_000
"""The slowest upload that the server waits for."""


@dataclass(frozen=True)
class Progress:
    """How an upload goes: bytes sent, then the stages of its job."""

    stage: str
    """`sending`, or the job's state."""
    share: float
    """Done of this stage, 0 to 1."""
    seconds_left: int | None = None
    """To the end of the job, at the pace so far."""


OnProgress: TypeAlias = Callable[[Progress], None]


class Labels(TypedDict, total=False):
    """What an upload may carry besides its file."""

    key: str
    """Your own name for the file: one with the same key is replaced."""
    metadata: Mapping[str, str | float | bool]
    """Flat: what searches are filtered by."""
    if_new: bool
    """With a key: only if no item has it. Raises precondition_failed."""
    if_item: str
    """With a key: only if the item with this id has it. Raises precondition_failed."""


@dataclass(frozen=True)
class Target:
    """Where uploads go: into the payer's own index, or into a workspace."""

    path: str
    job_path: str
    headers: Mapping[str, str]
    price: Literal["fixed"] | None
    item_path: str | None = None
    """Where asking for an item is free."""


def ingest(
    calls: Calls,
    target: Target,
    source: Source,
    *,
    name: str | None,
    wait: bool,
    timeout: float,
    on_progress: OnProgress | None,
    labels: Labels,
    idempotency_key: str | None,
) -> Flow[IngestResponse]:
    """Raises the server's code when the file is refused or its job fails (a paid one leaves a credit), ingest_timeout."""
    body, shown_name = _opened(source, name, on_progress)
    headers = {
        **target.headers,
        **_label_headers(labels),
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(shown_name, safe='')}",
    }
    # To report the stages the job is polled; otherwise the server answers when the job has ended.
    if wait and on_progress is None:
        headers["Prefer"] = f"wait={WAIT_S}"
    reply = yield from calls.send(
        Call(
            "POST",
            target.path,
            headers,
            body,
            target.price,
            idempotency_key,
            timeout=90 + body.size / SLOWEST_BYTES_PER_S,
        )
    )
    answer = cast(IngestResponse, reply.json())
    if "item" not in answer:
        raise _failure(answer["job"])
    if wait:
        yield from _until_searchable(calls, target, answer, time.monotonic() + timeout, on_progress)
    return answer


def _label_headers(labels: Labels) -> dict[str, str]:
    headers: dict[str, str] = {}
    if "key" in labels:
        headers["Item-Key"] = quote(labels["key"], safe="")
    if "metadata" in labels:
        headers["Item-Metadata"] = json.dumps(labels["metadata"])
    if labels.get("if_new"):
        headers["If-None-Match"] = "*"
    if "if_item" in labels:
        headers["If-Match"] = f'"{labels["if_item"]}"'
    return headers


def _until_searchable(
    calls: Calls, target: Target, answer: IngestResponse, until: float, on_progress: OnProgress | None
) -> Flow[None]:
    """Brings `answer` up to date. In the payer's own index its item costs a payment: `state` and `segments` alone are new."""
    job = answer["job"]
    pause = POLL_FIRST_S
    while True:
        if on_progress:
            on_progress(Progress(job["state"], job["progress"], job.get("time_left_s")))
        if job["state"] == "searchable":
            break
        if job["state"] in ("failed", "cancelled"):
            raise _failure(job)
        if time.monotonic() > until:
            raise FarthingError(
                "ingest_timeout",
                f"The file is still being read ({job['state']}); its job is {job['id']}.",
                facts={"job_id": job["id"]},
            )
        yield Pause(pause)
        pause = min(pause * 1.5, POLL_MAX_S)
        job_id = job["id"]
        reply = yield from calls.send(Call("GET", f"{target.job_path}/{job_id}", target.headers))
        job = cast(Job, reply.json())
    if job is answer["job"]:
        return
    answer["job"] = job
    if target.item_path is None:
        answer["item"]["state"] = "searchable"
        answer["item"]["segments"] = job["segments"]
    else:
        reply = yield from calls.send(Call("GET", f"{target.item_path}/{job['item']}", target.headers))
        answer["item"] = cast(Item, reply.json())


def _opened(source: Source, name: str | None, on_progress: OnProgress | None) -> tuple[Upload, str]:
    path = None if isinstance(source, bytes) else Path(source)
    size = len(source) if isinstance(source, bytes) else Path(source).stat().st_size

    def open_again() -> BinaryIO:
        return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")

    def report(sent: int) -> None:
        if on_progress:
            on_progress(Progress("sending", sent / size))

    return Upload(open_again, size, report), name or (path.name if path else "file")


def _failure(job: Job) -> FarthingError:
    error = job.get("error", {"code": "ingest_failed", "detail": f"The job is {job['state']}."})
    return FarthingError(error["code"], error["detail"], facts={"job_id": job["id"]})
