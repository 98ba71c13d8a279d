"""A workspace about to be rented: awaited, or entered."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from functools import wraps
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
W = TypeVar("W", bound=AbstractAsyncContextManager[Any])


class Renting(Generic[W]):
    """A workspace about to be rented: awaited, or entered."""

    def __init__(self, rented: Callable[[], Coroutine[Any, Any, W]]) -> None:
        self._rented = rented
        self._workspace: W | None = None

    def __await__(self) -> Generator[Any, None, W]:
        return self._rented().__await__()

    async def __aenter__(self) -> W:
        self._workspace = await self._rented()
        return self._workspace

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._workspace is not None:
            await self._workspace.__aexit__(kind, error, trace)


def renting(rent: Callable[P, Coroutine[Any, Any, W]]) -> Callable[P, Renting[W]]:
    """Lets a method's workspace be awaited or entered."""

    @wraps(rent)
    def rented(*args: P.args, **options: P.kwargs) -> Renting[W]:
        return Renting(lambda: rent(*args, **options))

    return rented
