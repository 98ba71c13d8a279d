"""Rent, upload, search, look at an item, meet errors and dispose, with what openapi-python-client made of the description alone.

Usage: generated_client.py URL, with the folder of the package `generated` on PYTHONPATH. Prints one JSON line: what each step answered.
"""

import asyncio
import io
import json
import sys

import httpx
from eth_account import Account
from generated import AuthenticatedClient, Client
from generated.api.per_request import ingest, item, search
from generated.api.workspaces import (
    create_workspace,
    dispose_workspace,
    ingest_workspace,
    search_workspace,
    workspace_items,
    workspace_usage,
)
from generated.models import (
    IngestFilesBody,
    IngestResponse,
    IngestWorkspaceFilesBody,
    Problem,
    SearchRequest,
    WorkspaceCreate,
)
from generated.types import File
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

URL = sys.argv[1]
# A busy machine takes longer than the five seconds that httpx waits by itself.
PATIENT = httpx.Timeout(60)
TEXT = b"The lighthouse keeper counts gulls at dawn."


def log(content=TEXT):
    return File(payload=io.BytesIO(content), file_name="log.txt", mime_type="text/plain")


async def main():
    payer = x402Client()
    register_exact_evm_client(payer, EthAccountSigner(Account.create()))
    client = Client(base_url=URL, timeout=PATIENT)
    async with x402HttpxClient(payer, base_url=URL, timeout=PATIENT) as http:
        client.set_async_httpx_client(http)
        unpaid = Client(base_url=URL, timeout=PATIENT)
        quote = await search.asyncio(client=unpaid, body=SearchRequest(query="gulls"))

        uploaded = await ingest.asyncio(client=client, body=IngestFilesBody(file=log()), prefer="wait=60")
        assert isinstance(uploaded, IngestResponse), uploaded
        found = await search.asyncio(client=client, body=SearchRequest(query="who watches birds?", k=3))
        shown = await item.asyncio(uploaded.item.id, client=client)
        refused = await search.asyncio(client=client, body=SearchRequest(query="gulls", k=0))
        unreadable = await ingest.asyncio(client=client, body=IngestFilesBody(file=log(b"\x7fELF\x02\x01\x01\x00\x00")))
        absent = await item.asyncio("item_00000000000000000000000000000000", client=client)

        rented = await create_workspace.asyncio(client=client, body=WorkspaceCreate(ttl_minutes=15))
    token = AuthenticatedClient(base_url=URL, token=rented.capability_token, timeout=PATIENT)
    inside = await ingest_workspace.asyncio(
        rented.id, client=token, body=IngestWorkspaceFilesBody(file=log()), prefer="wait=60"
    )
    hits = await search_workspace.asyncio(rented.id, client=token, body=SearchRequest(query="gulls"))
    items = await workspace_items.asyncio(rented.id, client=token)
    usage = await workspace_usage.asyncio(rented.id, client=token)
    wrong = await workspace_usage.asyncio(rented.id, client=AuthenticatedClient(base_url=URL, token="fws_none", timeout=PATIENT))
    ended = await dispose_workspace.asyncio(rented.id, client=token)
    problems = [refused, unreadable, absent, wrong]
    assert all(isinstance(each, Problem) for each in problems), problems
    print(
        json.dumps(
            {
                "quoted": quote.accepts[0].scheme,
                "state": uploaded.item.state,
                "found": [found.charged, found.hits[0].item.name, found.hits[0].family],
                "item": [shown.name, shown.media_type],
                "problems": [each.code for each in problems],
                "inside": [inside.item.state, hits.hits[0].item.name, [each.name for each in items.items]],
                "usage": [usage.state, usage.searches],
                "ended": [ended.state, ended.receipt.count(".")],
            }
        )
    )


asyncio.run(main())
