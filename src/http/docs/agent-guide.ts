import { formatUsd } from '../../domain/money.ts';
import { READABLE_NAMES } from '../../extract/formats.ts';
import { ASSETS } from '../../payment/asset.ts';
import type { Services } from '../access/services.ts';

type Described = Pick<Services, 'baseUrl' | 'prices' | 'workspaces'>;

/** `/llms.txt` (llmstxt.org): what this server is, with links to the rest. */
export function llmsTxt({ baseUrl }: Described): string {
  const url = baseUrl();
  const coins = ASSETS.map(({ symbol, network }) => `${symbol} on ${network}`).join(', ');
  return `# Farthing

> Search over files that you upload yourself: by meaning, by exact words, by picture, or for pictures by describing them.
> Paid by the request (HTTP 402, x402, ${coins}), or by renting a private workspace for some minutes. No accounts.

- [Guide for agents](${url}/agents.md): how to pay, upload, search and end a workspace
- [OpenAPI 3.1](${url}/openapi.json): every operation, field, price and error code
- [MCP](${url}/mcp): the same as tools, over streamable HTTP
- [State of the server](${url}/readyz): what can be searched here now, and whether the payments move real money
- [Keys](${url}/.well-known/jwks.json): check disposal receipts with these
`;
}

/** `/agents.md`: a guide for agents, with this server's address and prices. */
export function agentGuide({ baseUrl, prices, workspaces }: Described): string {
  const api = `${baseUrl()}/agent/v1`;
  const usd = (amount: bigint) => `${formatUsd(amount)} USD`;
  const { minUsd, maxUsd } = workspaces.prices.creationRange();
  return `# Using this server as an agent

Everything below is described exactly in [openapi.json](${baseUrl()}/openapi.json).

## Paying by the request

1. Send the request without a payment. The answer is 402; what to pay is in its body (x402 v1) and its \`PAYMENT-REQUIRED\` header (v2).
2. Sign it and send the same request again with \`X-PAYMENT\` (v1) or \`PAYMENT-SIGNATURE\` (v2). An x402 client does both by itself.
3. The answer's \`X-PAYMENT-RESPONSE\` is the receipt. What fails is not charged (of \`settlement_pending\` it is not known yet); \`charged\` in answers that
   have it, and the receipt alone for an item or its preview, say what was.

Send an \`Idempotency-Key\` (16 to 128 characters, yours alone) with what you pay for. If the answer is lost, send the same request with
the same key: you get the same answer, uncharged. With a new key or none you buy again.

| request | price |
|---|---|
| \`POST ${api}/ingest\`: upload one file (multipart field \`file\`, or the raw bytes) | ${usd(prices.ingest)} |
| \`POST ${api}/search\` | ${usd(prices.search)} |
| \`GET ${api}/items/{item_id}\` | ${usd(prices.item)} |
| \`GET ${api}/jobs/{job_id}\`: how an upload goes; \`…/events\` as server-sent events | free |

Uploads go into an index of your wallet's own; nobody else finds them. A zip, tar or tar.gz is one upload: each file in it becomes an item. Send \`Prefer: wait=30\` to be answered when a file is searchable.
Formats, recognised by content: ${READABLE_NAMES}.

## Renting a workspace

\`POST ${api}/workspaces\` with \`{"ttl_minutes": 15}\` costs ${minUsd} to ${maxUsd} USD, by the minutes. The answer shows \`capability_token\` once:
keep it. With \`Authorization: Bearer TOKEN\`, uploads and searches under \`${api}/workspaces/{id}/\` cost nothing more.
\`X-Workspace-TTL-Seconds\` in each answer says what is left; \`POST …/extend\` buys more. \`DELETE ${api}/workspaces/{id}\` destroys it at once
and answers with a signed receipt.

## Searching

\`\`\`json
{"query": "how is the filter cleaned?", "k": 5}
{"image_b64": "…base64 of a JPEG, PNG, WebP or BMP…"}
{"query": "a tabby cat", "families": ["visual"]}
{"query": "\\"exact phrase\\"", "families": ["raw"], "explain": true}
\`\`\`

Each hit has its \`item\`, a \`locator\` (page, characters), a \`snippet\` for text, and a \`confidence\` from 0 to 1: the probability
that this hit answers. It never rises down the list. \`answered: false\` means that no hit is likely to answer, and \`reason\` says why; the hits are given
all the same, so look at the first before you give up. \`corrected\` is there if words of the query were taken for slips. \`min_confidence\` leaves hits out; do not use it to decide whether there is an answer.

\`exact: true\` in an answer proves that no row of the index scores better in any list; it says nothing about relevance. \`bounds\` says it for each
family, or which share of the true best is found there. \`{"exact": true}\` in a request always gets the proof.

## As tools

\`${baseUrl()}/mcp\` is an MCP server (streamable HTTP) with the tools search, ingest, workspace_create, workspace_usage and workspace_dispose. A call is
paid in \`_meta["x402/payment"]\`, or costs nothing at \`/mcp?workspace=ID\` with the workspace's token as bearer token.

## When something is refused

Errors are problem documents; match on \`code\`, read \`detail\`. 503 and 429: wait for \`Retry-After\` seconds and send the same again. 402 with
\`authorization_already_used\`: sign a fresh payment. 415 lists the types that can be read. Everything else needs a changed request.
`;
}
