"""Every call of the interface as a flow, for the blocking and the async client alike."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import quote, urlencode

from .answers import (
    DisposalReceipt,
    GrepOptions,
    GrepResponse,
    HouseWorkspace,
    HouseWorkspaceList,
    IngestResponse,
    Item,
    ItemDeleted,
    ItemList,
    ItemText,
    JsonWebKeySet,
    Prepaid,
    PrepaidBalance,
    PrepaidRefund,
    Readiness,
    ReceiptClaims,
    ReserveEnded,
    SearchHistory,
    SearchOptions,
    SearchResponse,
    Workspace,
    WorkspaceUsage,
)
from .calls import Call, Calls
from .errors import FarthingError
from .exports import ExportPath, ImportSummary, export_to, import_from
from .flow import Flow
from .money import Usd
from .payment import REFUND_PATH
from .receipts import verify_receipt
from .uploads import Labels, OnProgress, Source, Target, ingest

API = "/agent/v1"
HOUSE = "/house/v1/workspaces"
JSON = {"Content-Type": "application/json"}

Image: TypeAlias = "bytes | os.PathLike[str]"
"""A picture to search with: its bytes, or the path of its file."""


def search_body(query: str | None, image: Image | None, options: SearchOptions) -> bytes:
    body: dict[str, Any] = dict(options)
    if query is not None:
        body["query"] = query
    if image is not None:
        content = image if isinstance(image, bytes) else Path(image).read_bytes()
        body["image_b64"] = base64.b64encode(content).decode("ascii")
    return json.dumps(body).encode()


def id_in_path(identity: str) -> str:
    return quote(identity, safe="")


class PayerOperations:
    """What is paid for by the call."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self._target = Target(f"{API}/ingest", f"{API}/jobs", {}, "fixed")

    def search(self, body: bytes, key: str | None) -> Flow[SearchResponse]:
        reply = yield from self.calls.send(Call("POST", f"{API}/search", JSON, body, "fixed", key))
        return cast(SearchResponse, reply.json())

    def ingest(
        self,
        source: Source,
        name: str | None,
        wait: bool,
        timeout: float,
        on_progress: OnProgress | None,
        labels: Labels,
        key: str | None,
    ) -> Flow[IngestResponse]:
        return ingest(
            self.calls,
            self._target,
            source,
            name=name,
            wait=wait,
            timeout=timeout,
            on_progress=on_progress,
            labels=labels,
            idempotency_key=key,
        )

    def item(self, item: str) -> Flow[Item]:
        path = f"{API}/items/{id_in_path(item)}"
        reply = yield from self.calls.send(Call("GET", path, price="fixed"))
        return cast(Item, reply.json())

    def ready(self) -> Flow[Readiness]:
        reply = yield from self.calls.send(Call("GET", "/readyz"))
        return cast(Readiness, reply.json())

    def prepay(self, usd: Usd, key: str | None) -> Flow[Prepaid]:
        added = cast(Prepaid, (yield from self._move(f"{API}/prepaid", usd, key)))
        self.calls.wallet.was_added()
        return added

    def prepaid_balance(self) -> Flow[PrepaidBalance]:
        reply = yield from self.calls.send(Call("GET", f"{API}/prepaid", price="fixed"))
        return cast(PrepaidBalance, reply.json())

    def refund_prepaid(self, usd: Usd, key: str | None) -> Flow[PrepaidRefund]:
        return cast(PrepaidRefund, (yield from self._move(REFUND_PATH, usd, key)))

    def _move(self, path: str, usd: Usd, key: str | None) -> Flow[object]:
        body = json.dumps({"usd": float(usd)}).encode()
        return (yield from self.calls.send(Call("POST", path, JSON, body, "by body", key))).json()

    def rent(
        self, minutes: int | None, spend_limit_usd: Usd | None, language: str | None, key: str | None
    ) -> Flow[tuple[str, Workspace]]:
        """The token and the record of a new workspace."""
        asked = {
            "ttl_minutes": minutes,
            "spend_limit_usd": None if spend_limit_usd is None else float(spend_limit_usd),
            "language": language,
        }
        body = json.dumps({name: value for name, value in asked.items() if value is not None}).encode()
        reply = yield from self.calls.send(Call("POST", f"{API}/workspaces", JSON, body, "by body", key))
        record = cast(Workspace, reply.json())
        if "capability_token" not in record:
            raise FarthingError("workspace_unauthorized", f"The workspace {record['id']} has ended: {record['state']}.")
        token = record.pop("capability_token")
        return token, record


class HouseOperations:
    """For agents of the server's operator, by a key."""

    def __init__(self, calls: Calls, key: str | None) -> None:
        self.calls = calls
        self._key = key

    def key(self) -> str:
        if self._key is None:
            raise FarthingError("key_unauthorized", "This is for the house: give the client a key.")
        return self._key

    def make(self, name: str | None, language: str | None) -> Flow[HouseWorkspace]:
        asked = {"name": name, "language": language}
        body = json.dumps({field: value for field, value in asked.items() if value is not None}).encode()
        # A repeated call, after a lost answer, makes no second one.
        headers = {**self._headers(), **JSON, "Idempotency-Key": secrets.token_hex(32)}
        reply = yield from self.calls.send(Call("POST", HOUSE, headers, body))
        return cast(HouseWorkspace, reply.json())

    def list(self, limit: int | None, after: str | None) -> Flow[HouseWorkspaceList]:
        call = Call("GET", HOUSE + _query(limit=limit, after=after), self._headers())
        return cast(HouseWorkspaceList, (yield from self.calls.send(call)).json())

    def _headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.key()}"}


class WorkspaceOperations:
    """What is included in a workspace's price. They need its token alone."""

    def __init__(self, calls: Calls, identity: str, token: str) -> None:
        self.calls = calls
        self.id = identity
        self._path = f"{API}/workspaces/{id_in_path(identity)}"
        self._headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"}
        self._target = Target(f"{self._path}/ingest", f"{self._path}/jobs", self._headers, None, f"{self._path}/items")

    def search(self, body: bytes) -> Flow[SearchResponse]:
        call = Call("POST", f"{self._path}/search", {**self._headers, **JSON}, body)
        return cast(SearchResponse, (yield from self.calls.send(call)).json())

    def grep(self, pattern: str, options: GrepOptions) -> Flow[GrepResponse]:
        body = json.dumps({"pattern": pattern, **options}).encode()
        call = Call("POST", f"{self._path}/grep", {**self._headers, **JSON}, body)
        return cast(GrepResponse, (yield from self.calls.send(call)).json())

    def ingest(
        self,
        source: Source,
        name: str | None,
        wait: bool,
        timeout: float,
        on_progress: OnProgress | None,
        labels: Labels,
    ) -> Flow[IngestResponse]:
        return ingest(
            self.calls,
            self._target,
            source,
            name=name,
            wait=wait,
            timeout=timeout,
            on_progress=on_progress,
            labels=labels,
            idempotency_key=None,
        )

    def usage(self) -> Flow[WorkspaceUsage]:
        return cast(WorkspaceUsage, (yield from self._get("/usage")))

    def history(self, limit: int | None, before: str | None) -> Flow[SearchHistory]:
        return cast(SearchHistory, (yield from self._get("/history", limit=limit, before=before)))

    def items(self, limit: int | None, after: str | None, parent: str | None) -> Flow[ItemList]:
        return cast(ItemList, (yield from self._get("/items", limit=limit, after=after, parent=parent)))

    def item(self, item: str) -> Flow[Item]:
        return cast(Item, (yield from self._get(f"/items/{id_in_path(item)}")))

    def text(self, item: str, page: int | None, time_s: float | None, start: int | None) -> Flow[ItemText]:
        path = f"/items/{id_in_path(item)}/text"
        return cast(ItemText, (yield from self._get(path, page=page, time_s=time_s, **{"from": start})))

    def captions(self, item: str) -> Flow[str]:
        call = Call("GET", f"{self._path}/items/{id_in_path(item)}/captions", self._headers)
        return (yield from self.calls.send(call)).content.decode()

    def content(self, item: str) -> Flow[bytes]:
        call = Call("GET", f"{self._path}/items/{id_in_path(item)}/content", self._headers)
        return (yield from self.calls.send(call)).content

    def preview(self, item: str, page: int | None, time_s: float | None) -> Flow[bytes]:
        path = f"{self._path}/items/{id_in_path(item)}/preview{_query(page=page, time_s=time_s)}"
        return (yield from self.calls.send(Call("GET", path, self._headers))).content

    def remove(self, item: str) -> Flow[ItemDeleted]:
        call = Call("DELETE", f"{self._path}/items/{id_in_path(item)}", self._headers)
        return cast(ItemDeleted, (yield from self.calls.send(call)).json())

    def export_to(self, target: ExportPath, content: bool, vectors: bool) -> Flow[None]:
        return export_to(self.calls, self._path, self._headers, target, content, vectors)

    def import_from(self, source: ExportPath) -> Flow[ImportSummary]:
        return import_from(self.calls, self._target, source)

    def extend(self, minutes: int | None, reserve: bool, key: str | None) -> Flow[Workspace]:
        asked = {**({} if minutes is None else {"ttl_minutes": minutes}), **({"reserve": True} if reserve else {})}
        body = json.dumps(asked).encode()
        headers = {**self._headers, **JSON}
        reply = yield from self.calls.send(Call("POST", f"{self._path}/extend", headers, body, "by body", key))
        return cast(Workspace, reply.json())

    def end_reserve(self) -> Flow[ReserveEnded]:
        reply = yield from self.calls.send(Call("DELETE", f"{self._path}/reserve", self._headers))
        return cast(ReserveEnded, reply.json())

    def dispose(self) -> Flow[DisposalReceipt]:
        reply = yield from self.calls.send(Call("DELETE", self._path, self._headers))
        return (yield from self._verified(cast(DisposalReceipt, reply.json())))

    def receipt(self) -> Flow[DisposalReceipt]:
        path = f"{API}/receipts/{id_in_path(self.id)}"
        reply = yield from self.calls.send(Call("GET", path, self._headers))
        return (yield from self._verified(cast(DisposalReceipt, reply.json())))

    def _verified(self, disposal: DisposalReceipt) -> Flow[DisposalReceipt]:
        reply = yield from self.calls.send(Call("GET", "/.well-known/jwks.json"))
        try:
            claims = verify_receipt(disposal["receipt"], cast(JsonWebKeySet, reply.json()), self.id)
        except FarthingError as error:
            # The data is destroyed nevertheless.
            raise FarthingError(error.code, error.detail, facts={"disposal": disposal}) from error
        return {**disposal, "claims": cast(ReceiptClaims, claims)}

    def _get(self, path: str, **query: str | float | None) -> Flow[object]:
        call = Call("GET", self._path + path + _query(**query), self._headers)
        return (yield from self.calls.send(call)).json()


def _query(**values: str | float | None) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
