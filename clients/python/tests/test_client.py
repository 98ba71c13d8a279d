"""The clients against a server, which FARTHING_URL names: real payments, in play money."""

from __future__ import annotations

import base64
import inspect
import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from eth_account import Account

from farthing import (
    AsyncFarthing,
    AsyncWorkspace,
    Farthing,
    FarthingError,
    ImportSummary,
    Progress,
    Spending,
    Workspace,
    verify_receipt,
)
from farthing.money import format_usd, parse_usd

URL = os.environ["FARTHING_URL"]
TEXT = b"The lighthouse keeper counts gulls at dawn."
ALMANAC = Path(__file__).parents[3] / "samples/almanac.pdf"


@pytest.fixture
def farthing() -> Iterator[Farthing]:
    with Farthing(URL, account=Account.create(), max_price_usd="0.05", budget_usd="0.10") as client:
        yield client


def code_of(call: Any) -> str:
    with pytest.raises(FarthingError) as caught:
        call()
    return caught.value.code


def test_pays_for_an_upload_and_a_search_and_tells_what_they_cost(farthing: Farthing) -> None:
    told: list[Progress] = []
    item = farthing.ingest(ALMANAC, on_progress=told.append)["item"]
    assert (item["name"], item["state"], item["media_type"]) == ("almanac.pdf", "searchable", "application/pdf")
    assert item["segments"] > 0
    assert (told[0], told[-1]) == (Progress("sending", 1.0), Progress("searchable", 1))
    found = farthing.search("how do insects tell each other where flowers are?", k=3)
    assert found["charged"] and found["answered"]
    assert found["hits"][0]["locator"]["page"] == 1
    assert farthing.spending == Spending("0.036", "0", "0.064")
    assert farthing.item(item["id"])["sha256"] == item["sha256"]


def test_a_workspace_is_exported_and_imported_with_archives_keys_and_metadata(tmp_path: Path) -> None:
    farthing = Farthing(URL, account=Account.create(), budget_usd="0.10")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inside/gulls.txt", "Gulls follow the plough inland.")
    file = tmp_path / "all.ndjson"
    with farthing.rent(minutes=5) as one, farthing.rent(minutes=5) as other:
        one.ingest(TEXT, name="log.txt", key="logs/1", metadata={"year": 2024, "draft": False})
        one.ingest(packed.getvalue(), name="notes.zip")
        one.export_to(file, vectors=True)
        lines = [json.loads(line) for line in file.read_bytes().splitlines()]
        space = next(line for line in lines if line["type"] == "space")
        passage = next(line for line in lines if line["type"] == "passages")["passages"][0]
        assert len(base64.b64decode(passage["vectors"][space["space"]])) == 4 * space["dimensions"]
        assert other.import_from(file) == ImportSummary(imported=2, vectors_left_out=True)
        one.export_to(file)
        assert other.import_from(file) == ImportSummary(unchanged=2)
        held = [(each["name"], each.get("key"), each.get("metadata")) for each in other.items()["items"]]
        assert ("log.txt", "logs/1", {"draft": False, "year": 2024}) in held
        hits = other.search("what follows the plough?", families=["raw"])["hits"]
        assert hits[0]["item"]["name"].endswith("gulls.txt")

        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        assert code_of(lambda: other.import_from(file)) == "source_unreadable"
        assert code_of(lambda: other.import_from(ALMANAC)) == "source_unreadable"
        one.export_to(file, content=False)
        assert code_of(lambda: other.import_from(file)) == "source_unreadable"
        assert not list(tmp_path.glob("*.part"))
    farthing.close()
    file.write_bytes(whole)

    async def again() -> None:
        client = AsyncFarthing(URL, account=Account.create(), budget_usd="0.10")
        async with client, client.rent(minutes=5) as workspace:
            assert (await workspace.import_from(file)).imported == 2
            await workspace.export_to(tmp_path / "again.ndjson")

    anyio.run(again)
    assert (tmp_path / "again.ndjson").stat().st_size > 0


def test_minutes_in_reserve_that_are_not_used_are_prepaid_money_again() -> None:
    farthing = Farthing(URL, account=Account.create(), max_price_usd="0.10", budget_usd="0.15")
    assert farthing.prepay("0.1")["prepaid_usd"] == "0.1"
    with farthing.rent(minutes=5) as workspace:
        left = farthing.spending.left_usd
        assert left == "0.0375"
        reserved = workspace.extend(minutes=120, reserve=True)
        assert (reserved["reserve"], reserved["price_usd"]) == ({"minutes": 120, "usd": "0.06"}, "0.06")
        assert farthing.spending.left_usd == left, "the budget had it before"
        with pytest.raises(FarthingError, match="prepay adds some") as caught:
            workspace.extend(minutes=120, reserve=True)
        assert caught.value.code == "payment_refused"
        assert workspace.end_reserve()["returned_usd"] == "0.06"
        assert workspace.usage()["reserve"] == {"minutes": 0, "usd": "0"}
    assert code_of(lambda: farthing.refund_prepaid(1)) == "payment_refused"
    farthing.close()


def test_prepaid_money_is_spent_first_and_then_the_chain_pays() -> None:
    farthing = Farthing(URL, account=Account.create(), prepaid=True, max_price_usd="0.10", budget_usd="1")

    def left() -> tuple[str | None, str]:
        return farthing.spending.left_usd, farthing.prepaid_balance()["prepaid_usd"]

    assert left() == ("1", "0")
    farthing.prepay("0.1")
    assert left() == ("0.9", "0.1")
    farthing.rent(minutes=120)
    assert left() == ("0.9", "0.03"), "the budget had it before"
    farthing.rent(minutes=120)
    assert left() == ("0.83", "0.03"), "paid on the chain"
    farthing.prepay("0.1")
    assert farthing.refund_prepaid("0.1")["prepaid_usd"] == "0.03"
    farthing.close()


def test_a_workspace_holds_files_until_its_end_and_its_receipt_is_proved(farthing: Farthing) -> None:
    with farthing.rent(minutes=15) as workspace:
        assert workspace.record and workspace.record["ttl_minutes"] == 15
        assert "capability_token" not in workspace.record
        item = workspace.ingest(TEXT, name="Möwen & log.txt")["item"]
        assert item["name"] == "Möwen & log.txt"
        assert workspace.search("who watches birds?", families=["text_semantic"])["hits"][0]["item"]["id"] == item["id"]
        assert workspace.content(item["id"]) == TEXT
        assert workspace.text(item["id"])["passages"][0]["text"] == TEXT.decode()
        assert workspace.grep("GULLS?", ignore_case=True)["lines"][0]["highlights"] == [[29, 34]]
        assert [each["id"] for each in workspace.items(limit=5)["items"]] == [item["id"]]
        assert workspace.history()["entries"][0]["query"] == "who watches birds?"
        assert workspace.item(item["id"])["segments"] == 1
        assert workspace.extend(minutes=5)["ttl_minutes"] == 5
        again = farthing.open(workspace.id, workspace.token)
        assert again.usage()["searches"] == 1
        assert workspace.remove(item["id"])["state"] == "deleted"
    assert workspace.disposal and workspace.disposal["claims"]["workspace"] == workspace.id
    assert workspace.receipt()["receipt"] == workspace.disposal["receipt"]
    assert code_of(workspace.usage) == "workspace_unauthorized"

    receipt = workspace.disposal["receipt"]
    keys = httpx.get(f"{URL}/.well-known/jwks.json").json()
    assert verify_receipt(receipt, keys)["searches"] == 1
    head, body, signature = receipt.split(".")
    for forged in (f"{head}.{body[:-2]}AA.{signature}", f"{head}.{body}", "receipt", f"{head}.{body}.AAAA"):
        assert code_of(lambda forged=forged: verify_receipt(forged, keys)) == "receipt_invalid"
    assert code_of(lambda: verify_receipt(receipt, {"keys": []})) == "receipt_invalid"
    assert code_of(lambda: verify_receipt(receipt, keys, "ws_other")) == "receipt_invalid"


def test_a_workspace_that_ended_inside_ends_quietly_and_an_error_still_destroys_it(farthing: Farthing) -> None:
    with farthing.rent(minutes=1) as workspace:
        farthing.open(workspace.id, workspace.token).dispose()
    with pytest.raises(KeyError), farthing.rent(minutes=1) as failed:
        raise KeyError
    assert failed.disposal and failed.disposal["state"] == "disposed"


def test_nothing_is_signed_over_a_limit() -> None:
    with Farthing(URL, account=Account.create(), max_price_usd="0.02") as client:
        assert code_of(lambda: client.ingest(TEXT)) == "price_over_limit"
        assert client.spending == Spending("0", "0", None)
    with Farthing(URL, account=Account.create(), budget_usd="0.031") as client:
        client.ingest(TEXT)
        assert code_of(lambda: client.search("gulls")) == "budget_exceeded"
        assert client.spending == Spending("0.03", "0", "0.001")
    with Farthing(URL) as client:
        assert code_of(lambda: client.search("gulls")) == "wallet_missing"


def test_refusals_say_why_and_what_was_signed_for_them_pays_for_the_next_call(farthing: Farthing) -> None:
    farthing.ingest(TEXT, name="log.txt")
    with pytest.raises(FarthingError) as caught:
        farthing.search("gulls", k=0)
    error = caught.value
    assert (error.code, error.status, error.facts["field"]) == ("field_invalid", 400, "k")
    assert error.request_id and "whole number" in error.detail
    assert farthing.spending.held_usd == "0.006"
    assert farthing.search("gulls")["charged"]
    assert farthing.spending == Spending("0.036", "0", "0.064")
    assert code_of(lambda: farthing.ingest(b"\x7fELF\x02\x01\x01\x00\x00")) == "media_type_unsupported"
    assert code_of(lambda: farthing.item("item_00000000000000000000000000000000")) == "item_not_found"


class LosesAnswers(httpx.BaseTransport):
    """The server does everything, and every second answer is lost."""

    def __init__(self) -> None:
        self.real = httpx.HTTPTransport()
        self.lost = 0
        self.count = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self.real.handle_request(request)
        self.count += 1
        if self.count % 2 == 0:
            return answer
        answer.read()
        self.lost += 1
        raise httpx.ReadError("lost", request=request)


def test_a_call_whose_answer_is_lost_is_charged_once() -> None:
    account = Account.create()
    transport = LosesAnswers()
    with Farthing(URL, account=account, http=httpx.Client(transport=transport)) as client:
        client.ingest(TEXT, name="log.txt")
        assert client.search("gulls")["hits"][0]["item"]["name"] == "log.txt"
        workspace = client.rent(minutes=1)
        workspace.dispose()
        assert client.spending == Spending("0.0465", "0", None)
    assert transport.lost >= 6


def test_no_answer_at_all_is_told_with_what_may_have_been_charged() -> None:
    with Farthing("http://127.0.0.1:9", attempts_max=1) as client:
        assert code_of(client.ready) == "server_unreachable"

    def lose_paid(request: httpx.Request) -> httpx.Response:
        if "payment-signature" in request.headers:
            raise httpx.ReadTimeout("lost", request=request)
        with httpx.Client() as real:
            answer = real.post(f"{URL}/agent/v1/search", content=request.content)
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    http = httpx.Client(transport=httpx.MockTransport(lose_paid))
    with Farthing(URL, account=Account.create(), attempts_max=2, http=http) as client:
        with pytest.raises(FarthingError) as caught:
            client.search("gulls")
        assert caught.value.code == "answer_lost"
        assert len(caught.value.facts["idempotency_key"]) == 64
        assert client.spending.spent_usd == "0.006"


def test_the_async_client_does_the_same() -> None:
    async def main() -> None:
        key = Account.create().key.hex()
        async with AsyncFarthing(URL, account=key, budget_usd="0.10") as client:
            told: list[Progress] = []
            async with client.rent(minutes=15) as workspace:
                await workspace.ingest(ALMANAC, on_progress=told.append)
                found: list[str] = []

                async def look(query: str) -> None:
                    found.append((await workspace.search(query))["hits"][0]["item"]["name"])

                async with anyio.create_task_group() as tasks:
                    for query in ("bees", "tides", "eclipse"):
                        tasks.start_soon(look, query)
                assert found == ["almanac.pdf"] * 3
            assert told[-1].stage == "searchable"
            assert workspace.disposal and workspace.disposal["claims"]["searches"] == 3
            other = await client.rent(minutes=1)
            assert (await other.dispose())["state"] == "disposed"
            await client.ingest(TEXT, name="log.txt")
            assert (await client.search("gulls"))["charged"]
            with pytest.raises(FarthingError, match="field_invalid"):
                await client.search("gulls", min_confidence=2)

    anyio.run(main)


@pytest.mark.parametrize(("blocking", "awaited"), [(Farthing, AsyncFarthing), (Workspace, AsyncWorkspace)])
def test_both_clients_have_the_same_methods(blocking: type, awaited: type) -> None:
    def methods(of: type) -> dict[str, list[str]]:
        public = inspect.getmembers(of, lambda member: inspect.isfunction(member))
        return {name: list(inspect.signature(each).parameters) for name, each in public if not name.startswith("_")}

    assert methods(blocking) == methods(awaited)


def test_keys_replace_and_filters_find_by_metadata(farthing: Farthing) -> None:
    with farthing.rent(minutes=1) as workspace:
        first = workspace.ingest(TEXT, name="log.txt", key="Tür/1", metadata={"year": 2023, "place": "Rügen"})["item"]
        workspace.ingest(b"Tides follow the moon over the harbour.", name="tides.txt", metadata={"year": 2024})
        assert (first["key"], first["metadata"]) == ("Tür/1", {"year": 2023, "place": "Rügen"})
        found = workspace.search("harbour or lighthouse", filter={"metadata": {"year": {"gte": 2024}}})
        assert [hit["item"]["name"] for hit in found["hits"]] == ["tides.txt"]
        with pytest.raises(FarthingError, match="precondition_failed"):
            workspace.ingest(b"The keeper sleeps.", key="Tür/1", if_new=True)
        second = workspace.ingest(b"The keeper sleeps.", key="Tür/1", if_item=first["id"])["item"]
        assert second["id"] != first["id"]
        assert len(workspace.items()["items"]) == 2


def test_a_key_of_the_house_needs_no_wallet_and_its_workspace_stays() -> None:
    with Farthing(URL, key=os.environ["FARTHING_KEY"]) as client:
        made = client.make(name="notes", language="en")
        made.ingest(TEXT, name="gulls.txt")
        assert made.id in [each["id"] for each in client.house(limit=200)["workspaces"]]
        opened = client.open(made.id)
        assert opened.search("who watches birds in the morning?")["hits"][0]["item"]["name"] == "gulls.txt"
        usage = opened.usage()
        assert (usage["house"], usage["expires_at"], usage["spend_usd"]) == (True, None, "0")
        assert opened.dispose()["claims"]["items"] == 1
    with Farthing(URL) as client:
        assert code_of(client.house) == "key_unauthorized"


def test_amounts_are_exact() -> None:
    for text in ("0", "0.000001", "0.1", "1", "12.345678"):
        assert format_usd(parse_usd(text)) == text
    for wrong in ("-1", "0.0000001", "nan", "many"):
        with pytest.raises((ValueError, ArithmeticError)):
            parse_usd(wrong)


def test_a_picture_is_searched_with(farthing: Farthing) -> None:
    picture = ALMANAC.parent / "chelsea.png"
    with farthing.rent(minutes=1) as workspace:
        item = workspace.ingest(picture)["item"]
        assert workspace.search(image=picture)["hits"][0]["item"]["id"] == item["id"]
        assert workspace.preview(item["id"])[:4] == b"RIFF"
