"""Five purchases by the published client of x402 for Python, unmodified, as five-purchases.mjs: CLIENT URL NETWORK KEY."""

import asyncio
import base64
import json
import sys

from eth_account import Account
from x402 import x402Client, x402ClientSync
from x402.http.clients import x402_requests, x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

NAME, URL, NETWORK, KEY = sys.argv[1:]
TEXT = {"Content-Type": "text/plain", "Prefer": "wait=60"}
JSON = {"Content-Type": "application/json"}


def paying(client):
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(KEY)), networks=NETWORK)
    return client


async def buy_all(send):
    async def buy(what, method, path, body=None, headers=None):
        answer = await send(method, f"{URL}/agent/v1{path}", body, headers)
        receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
        print(json.dumps({"what": what, "status": answer.status_code, "transaction": receipt["transaction"]}))
        return answer.json()

    item = (await buy("ingest", "POST", "/ingest", f"{NAME} counts gulls.", TEXT))["item"]["id"]
    await buy("search", "POST", "/search", '{"query":"who counts gulls?"}', JSON)
    await buy("item", "GET", f"/items/{item}")
    rented = (await buy("workspace", "POST", "/workspaces", '{"ttl_minutes":20}', JSON))["id"]
    await buy("extend", "POST", f"/workspaces/{rented}/extend", '{"ttl_minutes":10}', JSON)


async def over_requests():
    with x402_requests(paying(x402ClientSync())) as session:

        async def send(method, url, body, headers):
            return session.request(method, url, data=body, headers=headers)

        await buy_all(send)


async def over_httpx():
    async with x402HttpxClient(paying(x402Client())) as http:
        await buy_all(lambda method, url, body, headers: http.request(method, url, content=body, headers=headers))


asyncio.run({"x402 over requests": over_requests, "x402 over httpx": over_httpx}[NAME]())
