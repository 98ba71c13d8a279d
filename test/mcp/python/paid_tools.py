"""The tools with the official Python SDK, over stdio or HTTP, paid. Prints one JSON line: what each step answered.

Usage: paid_tools.py stdio NODE LAUNCHER | paid_tools.py http URL; FILE in the environment is what is ingested.
"""

import asyncio
import json
import os
import secrets
import sys
import time
from contextlib import asynccontextmanager

from eth_account import Account
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

WALLET = Account.create()
FIELDS = [
    {"name": "from", "type": "address"},
    {"name": "to", "type": "address"},
    {"name": "value", "type": "uint256"},
    {"name": "validAfter", "type": "uint256"},
    {"name": "validBefore", "type": "uint256"},
    {"name": "nonce", "type": "bytes32"},
]


def payment(required):
    """What `_meta["x402/payment"]` takes (x402 v2, scheme "exact")."""
    offer = required["accepts"][0]
    authorization = {
        "from": WALLET.address,
        "to": offer["payTo"],
        "value": offer["amount"],
        "validAfter": "0",
        "validBefore": str(int(time.time()) + offer["maxTimeoutSeconds"]),
        "nonce": "0x" + secrets.token_hex(32),
    }
    domain = {
        "name": offer["extra"]["name"],
        "version": offer["extra"]["version"],
        "chainId": int(offer["network"].split(":")[1]),
        "verifyingContract": offer["asset"],
    }
    message = {
        **authorization,
        "value": int(authorization["value"]),
        "validAfter": 0,
        "validBefore": int(authorization["validBefore"]),
        "nonce": bytes.fromhex(authorization["nonce"][2:]),
    }
    signed = WALLET.sign_typed_data(domain, {"TransferWithAuthorization": FIELDS}, message)
    signature = "0x" + signed.signature.hex().removeprefix("0x")
    return {
        "x402Version": 2,
        "accepted": offer,
        "resource": required["resource"],
        "payload": {"signature": signature, "authorization": authorization},
    }


@asynccontextmanager
async def connected(kind, *words):
    if kind == "http":
        async with streamable_http_client(words[0]) as (reader, writer):
            async with ClientSession(reader, writer) as session:
                yield session
    else:
        command, *args = words
        server = StdioServerParameters(command=command, args=[*args, "mcp"], env=dict(os.environ))
        async with stdio_client(server) as (reader, writer):
            async with ClientSession(reader, writer) as session:
                yield session


async def called(session, name, given):
    """Calls a tool; pays where that is asked for, and calls again."""
    answer = await session.call_tool(name, given)
    required = answer.structured_content or {}
    if answer.is_error and "accepts" in required:
        answer = await session.call_tool(name, given, meta={"x402/payment": payment(required)})
    if answer.is_error:
        raise RuntimeError(answer.content[0].text)
    return answer


async def main():
    kind = sys.argv[1]
    async with connected(*sys.argv[1:]) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        with open(os.environ["FILE"], encoding="utf-8") as file:
            text = file.read()
        added = await called(session, "ingest", {"text": text, "name": "lighthouses.md"})
        found = await called(session, "search", {"query": "How is a lighthouse told from another?"})
        wrong = await session.call_tool("workspace_create", {"minutes": 5})
        rented = await called(session, "workspace_create", {"ttl_minutes": 5})
        workspace = rented.structured_content["id"]
        scope = {"workspace": workspace}
        if kind == "http":
            scope["token"] = rented.structured_content["capability_token"]
        await called(session, "ingest", {"text": text, "name": "lighthouses.md", **scope})
        item = (await called(session, "item_list", scope)).structured_content["items"][0]["id"]
        read = await called(session, "item_read", {"item": item, **scope})
        extended = await called(session, "workspace_extend", {"ttl_minutes": 5, **scope})
        deleted = await called(session, "item_delete", {"item": item, **scope})
        disposed = await called(session, "workspace_dispose", scope)
    said = {
        "tools": tools,
        "charged": [added.structured_content["charged"], found.structured_content["charged"]],
        "found": found.content[0].text,
        "wrong": wrong.content[0].text,
        "read": read.content[0].text,
        "extended": extended.structured_content["price_usd"],
        "deleted": deleted.structured_content["state"],
        "disposed": disposed.structured_content["claims"]["workspace"] == workspace,
    }
    print(json.dumps(said))


asyncio.run(main())
