"""The blocking client, made from the async one (aio.py): `make python-answers` writes this file."""

from __future__ import annotations

from types import TracebackType

import httpx
from typing_extensions import Self, Unpack

from .answers import (
    DisposalReceipt,
    GrepOptions,
    GrepResponse,
    HouseWorkspaceList,
    IngestResponse,
    Item,
    ItemDeleted,
    ItemList,
    ItemText,
    Prepaid,
    PrepaidBalance,
    PrepaidRefund,
    Readiness,
    ReserveEnded,
    SearchHistory,
    SearchOptions,
    SearchResponse,
    WorkspaceUsage,
)
from .answers import Workspace as WorkspaceRecord
from .calls import Calls
from .errors import FarthingError
from .exports import ExportPath, ImportSummary
from .flow import run
from .money import Budget, Spending, Usd
from .operations import HouseOperations, Image, PayerOperations, WorkspaceOperations, search_body
from .payment import Account, Wallet
from .uploads import Labels, OnProgress, Source


class Farthing:
    """Pays for its calls, each at most once: after a lost answer a call is repeated with the same authorization.

    `account` signs payments: an account of eth_account, or its private key. Without one, workspaces can be used.
    `key`: of the server's house (`fhk_…`): its operator's own agents pay nothing, and what they upload stays.
    `prepaid`: calls are paid with prepaid money as long as there is enough, and on the chain from then on.
    `max_price_usd`: a call that costs more is not signed. `budget_usd`: neither is one that goes over this in all.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8402",
        *,
        account: Account | None = None,
        key: str | None = None,
        prepaid: bool = False,
        max_price_usd: Usd = 1,
        budget_usd: Usd | None = None,
        attempts_max: int = 8,
        http: httpx.Client | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        wallet = Wallet(account, Budget(max_price_usd, budget_usd), prepaid=prepaid)
        self._payer = PayerOperations(Calls(self.base_url, wallet, attempts_max))
        self._house = HouseOperations(self._payer.calls, key)
        self._http = http or httpx.Client()
        self._http.base_url = httpx.URL(self.base_url)

    def search(
        self,
        query: str | None = None,
        *,
        image: Image | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResponse:
        """Searches the payer's own index."""
        return run(self._payer.search(search_body(query, image, options), idempotency_key), self._http)

    def ingest(
        self,
        source: Source,
        *,
        name: str | None = None,
        wait: bool = True,
        timeout: float = 600,
        on_progress: OnProgress | None = None,
        idempotency_key: str | None = None,
        **labels: Unpack[Labels],
    ) -> IngestResponse:
        """Uploads one file into the payer's own index and waits until it is searchable."""
        flow = self._payer.ingest(source, name, wait, timeout, on_progress, labels, idempotency_key)
        return run(flow, self._http)

    def item(self, item: str) -> Item:
        """Metadata of one of the payer's items."""
        return run(self._payer.item(item), self._http)

    def prepay(self, usd: Usd, *, idempotency_key: str | None = None) -> Prepaid:
        """Pays in advance: for clients with `prepaid`, and for minutes in reserve. Counts against the budget now, and not when it is spent."""
        return run(self._payer.prepay(usd, idempotency_key), self._http)

    def prepaid_balance(self) -> PrepaidBalance:
        """What the wallet has prepaid, by its signature. Free."""
        return run(self._payer.prepaid_balance(), self._http)

    def refund_prepaid(self, usd: Usd, *, idempotency_key: str | None = None) -> PrepaidRefund:
        """Has prepaid money back: the operator owes it to the wallet from then on."""
        return run(self._payer.refund_prepaid(usd, idempotency_key), self._http)

    def ready(self) -> Readiness:
        """Prices, families and limits of the server. Free."""
        return run(self._payer.ready(), self._http)

    def rent(
        self,
        *,
        minutes: int | None = None,
        spend_limit_usd: Usd | None = None,
        language: str | None = None,
        idempotency_key: str | None = None,
    ) -> Workspace:
        """Rents a workspace (15 minutes by default): uploads and searches in it are included.

        `language`: of the texts (ISO 639: `en`, `de`; `mul` for several). By default the first text tells.

        `with farthing.rent(minutes=60) as workspace:` destroys it at the end; `farthing.rent()` does not.
        """
        flow = self._payer.rent(minutes, spend_limit_usd, language, idempotency_key)
        token, record = run(flow, self._http)
        return Workspace(self._payer.calls, self._http, record["id"], token, record)

    def open(self, workspace: str, token: str | None = None) -> Workspace:
        """A workspace that exists: of the house, opened by the client's key, without a token. Sends nothing."""
        return Workspace(self._payer.calls, self._http, workspace, token or self._house.key())

    def make(self, *, name: str | None = None, language: str | None = None) -> Workspace:
        """Makes a workspace of the house, which stays until it is disposed of. Needs a key with the right `admin`."""
        record = run(self._house.make(name, language), self._http)
        return self.open(record["id"])

    def house(self, *, limit: int | None = None, after: str | None = None) -> HouseWorkspaceList:
        """The workspaces of the house that the client's key opens. `after`: the former page's `next`."""
        return run(self._house.list(limit, after), self._http)

    @property
    def spending(self) -> Spending:
        """What was spent so far, is held, and is left."""
        return self._payer.calls.wallet.budget.spending

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Workspace:
    """A private index for some minutes. As a context manager it is destroyed at the end; `disposal` is then its receipt."""

    def __init__(
        self, calls: Calls, http: httpx.Client, identity: str, token: str, record: WorkspaceRecord | None = None
    ) -> None:
        self._of = WorkspaceOperations(calls, identity, token)
        self._http = http
        self.id = identity
        self.token = token
        """Whoever has it can use the workspace."""
        self.record = record
        """The server's record of a workspace that was just rented."""
        self.disposal: DisposalReceipt | None = None

    def search(
        self, query: str | None = None, *, image: Image | None = None, **options: Unpack[SearchOptions]
    ) -> SearchResponse:
        return run(self._of.search(search_body(query, image, options)), self._http)

    def grep(self, pattern: str, **options: Unpack[GrepOptions]) -> GrepResponse:
        """Lines of the texts that match a regular expression, in Rust's syntax."""
        return run(self._of.grep(pattern, options), self._http)

    def ingest(
        self,
        source: Source,
        *,
        name: str | None = None,
        wait: bool = True,
        timeout: float = 600,
        on_progress: OnProgress | None = None,
        **labels: Unpack[Labels],
    ) -> IngestResponse:
        """Uploads one file and waits until it is searchable."""
        return run(self._of.ingest(source, name, wait, timeout, on_progress, labels), self._http)

    def usage(self) -> WorkspaceUsage:
        return run(self._of.usage(), self._http)

    def history(self, *, limit: int | None = None, before: str | None = None) -> SearchHistory:
        """Past searches, newest first. `before`: the former page's `next`."""
        return run(self._of.history(limit, before), self._http)

    def items(self, *, limit: int | None = None, after: str | None = None, parent: str | None = None) -> ItemList:
        """Items in order of upload. `after`: the former page's `next`; `parent`: those inside this one."""
        return run(self._of.items(limit, after, parent), self._http)

    def item(self, item: str) -> Item:
        return run(self._of.item(item), self._http)

    def text(
        self, item: str, *, page: int | None = None, time_s: float | None = None, start: int | None = None
    ) -> ItemText:
        """Text of an item from a page, a second or a passage on. `start`: the former answer's `next`."""
        return run(self._of.text(item, page, time_s, start), self._http)

    def captions(self, item: str) -> str:
        """Speech and subtitles of a film or recording as WebVTT."""
        return run(self._of.captions(item), self._http)

    def content(self, item: str) -> bytes:
        """An item's stored file."""
        return run(self._of.content(item), self._http)

    def preview(self, item: str, *, page: int | None = None, time_s: float | None = None) -> bytes:
        """A small picture (WebP) of an item: of the page or second that a hit's locator names."""
        return run(self._of.preview(item, page, time_s), self._http)

    def remove(self, item: str) -> ItemDeleted:
        return run(self._of.remove(item), self._http)

    def export_to(self, file: ExportPath, *, content: bool = True, vectors: bool = False) -> None:
        """Writes all that the workspace holds to a file, as lines of JSON.

        `content`: with the uploaded files. `vectors`: with the vectors of passages and pictures.

        Raises source_unreadable when the answer ends too early. The file is there only once it is whole.
        """
        run(self._of.export_to(file, content, vectors), self._http)

    def import_from(self, file: ExportPath) -> ImportSummary:
        """Uploads what an export holds, with its keys and metadata. The same export again changes nothing.

        Raises source_unreadable for what is no export, is incomplete or holds no files; what came before is uploaded.
        """
        return run(self._of.import_from(file), self._http)

    def extend(
        self, *, minutes: int | None = None, reserve: bool = False, idempotency_key: str | None = None
    ) -> WorkspaceRecord:
        """Buys more minutes (15 by default).

        `reserve`: they are used when the others have run out, and what is not used is prepaid money again. They are
        paid in prepaid money alone.
        """
        return run(self._of.extend(minutes, reserve, idempotency_key), self._http)

    def end_reserve(self) -> ReserveEnded:
        """Ends the reserve: what is not used of it goes back to the prepaid money of who paid for it."""
        return run(self._of.end_reserve(), self._http)

    def dispose(self) -> DisposalReceipt:
        """Destroys the workspace's data. The receipt is verified with the server's published keys.

        Raises receipt_invalid: the data is destroyed nevertheless; `facts["disposal"]` is the server's answer.
        """
        disposal = run(self._of.dispose(), self._http)
        self.disposal = disposal
        return disposal

    def receipt(self) -> DisposalReceipt:
        """The receipt of an ended workspace, for 24 hours, verified in the same way."""
        return run(self._of.receipt(), self._http)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.disposal is not None:
            return
        try:
            self.dispose()
        except FarthingError as end:
            # Its time was over: its data is destroyed.
            if end.code != "workspace_unauthorized":
                raise
