import { formatUsd, type ShownPrice } from '@farthing/protocol/money';
import { type Hit, HitSchema } from '@farthing/protocol/schema/search';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { READABLE_NAMES } from '@farthing/readers/formats';
import type { Services } from '../access/services.ts';
import { ANSWERS } from './discovery.ts';

export type Described = Pick<Services, 'baseUrl' | 'prices' | 'workspaces' | 'terms' | 'limits'>;

const MEBIBYTE = 2 ** 20;

/** Schema descriptions of the figures that a hit's line shows to a model. */
const FIGURES_OF_A_HIT = SHOWN_FIELDS.hit
  .filter(({ on }) => on.includes('line'))
  .map(({ name }) => `- \`${name}\`: ${HitSchema.properties[name as keyof Hit].description}`)
  .join('\n');

/** `/llms.txt` (llmstxt.org): what this server is, with links to the rest. */
export function llmsTxt({ baseUrl, terms }: Described): string {
  const url = baseUrl();
  return `# Farthing

> Search over files that you upload yourself: by meaning, by exact words, by picture, or for pictures by describing them.
> Paid by the request (HTTP 402, x402, ${terms.coin}), or by renting a private workspace for some minutes. No accounts.

${moneyOf(terms)} ${clientsOf(terms)}

- [Guide for agents](${url}/agents.md): how to pay, upload, search and end a workspace
- [OpenAPI 3.1](${url}/openapi.json): every operation, field, price and error code
- [MCP](${url}/mcp): the same as tools, over streamable HTTP
- [State of the server](${url}/readyz): what can be searched here now, and whether the payments move real money
- [Keys](${url}/.well-known/jwks.json): check disposal receipts with these; as did:web at ${url}/.well-known/did.json, for signed receipts of payments
`;
}

/** How to use this server, in some sentences: for catalogues, which show them to agents before the first call. */
export function guidance({ baseUrl, terms }: Described): string {
  return `Upload files with POST /agent/v1/ingest, search them with POST /agent/v1/search, each paid by the call (x402). For more than a few files rent a workspace (POST /agent/v1/workspaces): uploads and searches in it are then free. ${moneyOf(terms)} ${clientsOf(terms)} Guide: ${baseUrl()}/agents.md`;
}

/** `/agents.md`: a guide for agents, with this server's address and prices. */
export function agentGuide(described: Described): string {
  const { baseUrl, prices, workspaces, terms, limits } = described;
  const api = `${baseUrl()}/agent/v1`;
  const { search, ingest, item } = prices.shown;
  const { playUsd } = terms;
  const creation = priceText(workspaces.prices.shownCreation());
  return `# Using this server as an agent

Exact descriptions: [openapi.json](${baseUrl()}/openapi.json).

## Money

${moneyOf(terms)}

1. Send the request without a payment. The 402 says what to pay: in the \`PAYMENT-REQUIRED\` header (x402 v2) and the body (v1).
2. Sign that and send the same request with \`PAYMENT-SIGNATURE\` (v2) or \`X-PAYMENT\` (v1). An x402 client does both.
3. \`X-PAYMENT-RESPONSE\` is the receipt; \`charged\` in the answer says whether you paid. Failed requests are not charged (\`settlement_pending\`: not known yet).

Send an unguessable \`Idempotency-Key\` (16 to 128 characters) with each paid request. After a lost answer the same request with the same key
gets it, uncharged. With a new key or none you buy again.

## Clients

${clientsOf(terms)}

| language | library | how |
|---|---|---|
| TypeScript | \`@x402/fetch\` + \`@x402/evm\` | \`wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(account)))\` |
| TypeScript | \`@x402/axios\` + \`@x402/evm\` | \`wrapAxiosWithPayment(axios.create(), client)\` |
| Python | \`x402[requests,evm]\` | below |
| Python, async | \`x402[httpx,evm]\` | \`x402HttpxClient(client)\` with an \`x402Client\` |
| any | an MCP client | \`${baseUrl()}/mcp\` |

Python, after \`pip install "x402[requests,evm]"\`:

\`\`\`python
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

account = Account.create()  # or Account.from_key("0x…"): ${playUsd === undefined ? 'the wallet that pays' : 'any key works here'}
client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(account))
with x402_requests(client) as http:
    note = ("log.txt", b"The lighthouse keeper counts gulls at dawn.")
    http.post("${api}/ingest", files={"file": note}, headers={"Prefer": "wait=30"}).raise_for_status()
    answer = http.post("${api}/search", json={"query": "who watches birds in the morning?", "k": 3})
    for hit in filter(lambda hit: hit["likely"], answer.json()["hits"]):
        print(hit["item"]["name"], round(hit["confidence"], 2), hit.get("snippet"))
\`\`\`

Without a library: the 402's header is base64 of JSON. Sign EIP-3009 \`TransferWithAuthorization\` (EIP-712) with the values of \`accepts[0]\`.

## Paying in advance

\`POST ${api}/prepaid\` with \`{"usd": 1}\` takes money once. A request with \`X-Prepaid-Wallet: YOUR_ADDRESS\` is then paid from it alone, by a signature without
a transaction (\`prepaid_insufficient\`: too little). Clients that pay in well-known coins alone need \`spendControls: { allowedAssets: true }\`.
\`GET ${api}/prepaid\` shows the balance for a signature over 0. \`POST ${api}/prepaid/refund\` with \`{"usd": 0.5}\` sends money back to your wallet.

Where \`accepts\` has \`batch-settlement\`, a client with that scheme of x402 deposits once and buys many times;
\`GET ${api}/channel/refund\` is the address for its \`refund()\`.

## Paths and prices

| request | price |
|---|---|
| \`POST ${api}/ingest\`: upload one file (multipart field \`file\`, or the raw bytes) | ${priceText(ingest)} |
| \`POST ${api}/search\` | ${priceText(search)} |
| \`GET ${api}/items/{item_id}\`: metadata | ${priceText(item)} |
| \`GET ${api}/items/{item_id}/preview?page=N\` or \`?time_s=S\`: a small picture (WebP) | ${priceText(item)} |
| \`POST ${api}/workspaces\`: rent a workspace | ${creation} |
| \`POST ${api}/workspaces/{id}/extend\`: more minutes, with \`reserve: true\` refundable ones | ${priceText(workspaces.prices.shownExtension())} |
| \`POST ${api}/prepaid\`: pay in advance; \`…/prepaid/refund\`: ask for a refund | the amount |
| \`GET ${api}/prepaid\`: your balance | free |
| \`GET ${api}/jobs/{job_id}\`: progress of an upload; \`…/events\` as server-sent events | free |

## Files

Formats, recognised by content: ${READABLE_NAMES}.

At most ${Math.floor(limits.fileBytesMax / MEBIBYTE)} MiB a file, ${terms.pagesMax} pages, ${Math.floor(terms.mediaSecondsMax / 60)} minutes of film or sound. Each file in a zip, tar, tar.gz or gz becomes an item.
Scans are read (OCR), subtitles too, and speech if this server transcribes it: \`not_searchable\` of an item says what is not. Transcribed text has
\`text_source: "speech"\` and \`speech_confidence\`; \`…/items/{id}/captions\` gives it as WebVTT (in a workspace). File names of pictures and media are found.
Exact words work in every language. The first text fixes an index's language model: English only, or about a hundred
languages with questions across them. So keep English and other languages in separate workspaces.

Two optional multipart fields: \`metadata\` (flat JSON, for filters) and \`key\` (your own name for the file). Another version with the same key
replaces the item at once; the same again costs nothing. With a raw body: \`Item-Metadata\` and \`Item-Key\` (percent-encoded).
\`If-None-Match: *\` writes only a new key, \`If-Match: "ITEM_ID"\` only over that item; otherwise 412, uncharged.

Uploads go into your wallet's own index, which only you can search. It ends ${Math.round(terms.payerIndexMinutes / 60)} hours after the last paid upload. \`Prefer: wait=30\` answers when a file is searchable.

## Renting a workspace

\`POST ${api}/workspaces\` with \`{"ttl_minutes": 15}\` costs ${formatUsd(workspaces.prices.creation({ ttlMinutes: 15 }).amount)} USD. The answer shows \`capability_token\` once:
keep it. With \`Authorization: Bearer TOKEN\`, uploads and searches under \`${api}/workspaces/{id}/\` cost nothing more.
Each answer's \`X-Workspace-TTL-Seconds\` says what is left, \`X-Workspace-TTL-Warning\` that it is less than two minutes; \`POST …/extend\` buys more.
With \`{"ttl_minutes": 600, "reserve": true}\`, paid in prepaid money, it extends itself minute by minute; what is unused is prepaid again
when you \`DELETE …/reserve\` or the workspace. \`POST …/grep\` with \`{"pattern": "\\\\bfn \\\\w+"}\` answers with the lines that match (Rust’s syntax).
\`GET …/export?content=true\` returns everything as lines of JSON (the last has type \`end\`; \`vectors=true\` adds the vectors).
\`DELETE ${api}/workspaces/{id}\` destroys it at once and answers with a signed receipt. For several files a workspace costs less than paying for each.

## Searching

\`\`\`json
{"query": "how is the filter cleaned?", "k": 5}
{"image_b64": "…base64 of a JPEG, PNG, WebP or BMP…"}
{"query": "a tabby cat", "families": ["visual"]}
{"query": "\\"exact phrase\\"", "families": ["raw"], "explain": true}
{"queries": ["who wrote it?", "when was it written?"], "k": 3, "max_chars": 2000}
{"query": "net revenue", "filter": {"name": "*.pdf", "metadata": {"year": {"gte": 2023}}}}
\`\`\`

A sample answer:

\`\`\`json
${JSON.stringify(ANSWERS.search, null, 1)}
\`\`\`

Each hit has its \`item\`, a \`locator\` (page, box, seconds, characters), a \`snippet\` for text, and:

${FIGURES_OF_A_HIT}

Read the hits that are \`likely\`. \`answered: false\` means that no hit is likely to answer, and \`reason\` says why; it is cautious, most of all in small
indexes: read the first snippet before you give up. \`confidence\` compares the hits of one answer, and \`min_confidence\` drops some: neither decides whether there is an answer.
\`corrected\` is the query with misspellings corrected; \`relaxed\` has quoted phrases that stand nowhere: their words were looked for.

\`order: {"by": "created_at"}\` (or \`"metadata.FIELD"\`) puts the likely hits newest first; with \`"decay": {"half_life": 30}\` confidence halves with each 30 days instead.
\`like\`, instead of \`query\`: an item's id, or \`{item, page}\`; finds what is like it.

\`queries\` asks up to 16 questions in one call, at the price of one: texts, or \`{query or like, families, k, filter}\`. \`answers\` has each answer;
\`fused: true\` makes one list, for several wordings of one question.

\`passages: n\` shows each hit's whole passage as \`text\`, with n more on each side: lists and instructions may continue there. \`max_chars\` bounds all \`text\`,
in whole sentences, the best first (\`truncated\`: something did not fit). \`text_next\` is where \`…/items/{id}/text?from=\` continues (in a workspace).

\`filter\`: \`items\` (ids), \`media_type\`, \`name\` and \`key\` (with \`*\`), \`created_after\`, \`created_before\`, \`metadata\`
(by field a value, a list, or \`eq\`, \`in\`, \`gt\`, \`gte\`, \`lt\`, \`lte\`, \`exists\`), \`and\`, \`or\`, \`not\`. \`reason: "nothing_in_filter"\`: no item meets it.

An answer's \`exact: true\` proves that no row scores better in any list, not that it is relevant; \`bounds\` says it by family, or which share of the
true best is found. A request's \`exact: true\` always gets the proof.

## As tools

\`${baseUrl()}/mcp\` is an MCP server (streamable HTTP) with tools for all of this. A call is paid in \`_meta["x402/payment"]\`, or free at \`/mcp?workspace=ID\`
with the workspace's token as bearer token.

## When something is refused

Match on \`code\`, read \`detail\`; \`allowed\` lists a field's values. 503 and 429: wait for \`Retry-After\` seconds and send the same again.
402 with \`authorization_already_used\`: sign a fresh payment. 415 lists the types that can be read. Everything else needs a changed request.
`;
}

function priceText(price: ShownPrice): string {
  return 'usd' in price ? `${price.usd} USD` : `${price.minUsd} to ${price.maxUsd} USD (${price.dynamic})`;
}

/** Whether payments move play money, test coins or real money, in a sentence. */
export function moneyOf({ playUsd, isTestnet, coin }: Described['terms']): string {
  if (playUsd === undefined && isTestnet)
    return `Payments here are transfers on a testnet (${coin}): its coins are free (faucet.circle.com) and have no value.`;
  if (playUsd === undefined)
    return `Payments here move real money: ${coin}. Send that coin to your wallet; it needs no other for fees.`;
  return `Payments here are play money: any key works, a newly generated one too. Each wallet starts with ${playUsd} USD, and no chain is touched.`;
}

/** The clients that can pay here, in a sentence. */
export function clientsOf({ bodyNetwork, servesV1 }: Described['terms']): string {
  if (servesV1) return 'Clients of x402 v2 and v1 can pay.';
  return `Clients of x402 v2 can pay. Those of v1 (x402-fetch, x402-axios) cannot: they know no network named ${bodyNetwork}, and fail with "Invalid enum value" or "invalid_enum_value". Use a v2 client, or ask the operator for FARTHING_X402_BODY_NETWORK=base, which serves both.`;
}
