"""Calls without input or output: a flow yields what is to be done, and one of two drivers does it, waiting or awaiting."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import httpx

T = TypeVar("T")

CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True)
class Upload:
    """A body that is opened again for each attempt."""

    open: Callable[[], BinaryIO]
    size: int
    on_bytes: Callable[[int], None]
    """Told how many bytes are sent so far."""


@dataclass(frozen=True)
class Send:
    """Sends one request. Answered with a Reply, or None when no answer came."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Upload | None = None
    timeout: float = 90.0
    into: Path | None = None
    """The file that a success's body is written to; its reply has none then."""


@dataclass(frozen=True)
class Pause:
    """Waits so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Work:
    """Does what may take long, without input or output."""

    run: Callable[[], Any]


@dataclass(frozen=True)
class Reply:
    status: int
    headers: httpx.Headers
    content: bytes

    def json(self) -> Any:
        """The parsed body; None where it is no JSON."""
        try:
            return json.loads(self.content)
        except ValueError:
            return None


Flow: TypeAlias = Generator["Send | Pause | Work", Any, T]


def run(flow: Flow[T], http: httpx.Client) -> T:
    """Drives a flow, blocking."""
    answer: Any = None
    try:
        while True:
            step = flow.send(answer)
            if isinstance(step, Send):
                answer = _send(step, http)
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
                answer = None
            else:
                answer = step.run()
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        flow.close()


async def run_async(flow: Flow[T], http: httpx.AsyncClient) -> T:
    """Drives a flow on asyncio or trio."""
    answer: Any = None
    try:
        while True:
            step = flow.send(answer)
            if isinstance(step, Send):
                answer = await _send_async(step, http)
            elif isinstance(step, Pause):
                await anyio.sleep(step.seconds)
                answer = None
            else:
                answer = await anyio.to_thread.run_sync(step.run)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        flow.close()


def _send(step: Send, http: httpx.Client) -> Reply | None:
    content = _pieces(step.body) if isinstance(step.body, Upload) else step.body
    try:
        if step.into is not None:
            with http.stream(step.method, step.path, headers=_headers(step), timeout=step.timeout) as stream:
                if stream.status_code > 299:
                    return Reply(stream.status_code, stream.headers, stream.read())
                with step.into.open("wb") as file:
                    for piece in stream.iter_bytes():
                        file.write(piece)
                return Reply(stream.status_code, stream.headers, b"")
        answer = http.request(step.method, step.path, headers=_headers(step), content=content, timeout=step.timeout)
        return Reply(answer.status_code, answer.headers, answer.content)
    except httpx.TransportError:
        return None


async def _send_async(step: Send, http: httpx.AsyncClient) -> Reply | None:
    content = _pieces_async(step.body) if isinstance(step.body, Upload) else step.body
    try:
        if step.into is not None:
            async with http.stream(step.method, step.path, headers=_headers(step), timeout=step.timeout) as stream:
                if stream.status_code > 299:
                    return Reply(stream.status_code, stream.headers, await stream.aread())
                async with await anyio.open_file(step.into, "wb") as file:
                    async for piece in stream.aiter_bytes():
                        await file.write(piece)
                return Reply(stream.status_code, stream.headers, b"")
        answer = await http.request(
            step.method, step.path, headers=_headers(step), content=content, timeout=step.timeout
        )
        return Reply(answer.status_code, answer.headers, answer.content)
    except httpx.TransportError:
        return None


def _headers(step: Send) -> dict[str, str]:
    if not isinstance(step.body, Upload):
        return dict(step.headers)
    return {**step.headers, "Content-Length": str(step.body.size)}


def _pieces(upload: Upload) -> Iterator[bytes]:
    sent = 0
    with upload.open() as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece
            sent += len(piece)
            upload.on_bytes(sent)


async def _pieces_async(upload: Upload) -> AsyncIterator[bytes]:
    sent = 0
    with upload.open() as file:
        while piece := await anyio.to_thread.run_sync(file.read, CHUNK_BYTES):
            yield piece
            sent += len(piece)
            upload.on_bytes(sent)
