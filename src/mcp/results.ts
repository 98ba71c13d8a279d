import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { unansweredText } from '../client/answers/unanswered.ts';
import type { Hit, IngestAnswer, SearchAnswer } from '../client/index.ts';
import { hasPicture } from '../client/preview.ts';
import { type Answered, type Backend, itemAddress, PaymentNeeded, type Scope } from './backend.ts';
import { brief } from './brief.ts';
import { base64Of, THUMBNAIL_TYPE, thumbnailAddress } from './resources.ts';

/** Results as text for the model, as data for the program, and with links to the items. */

const RESPONSE_KEY = 'x402/payment-response';

/** @param thumbnails hits that are shown as pictures, too; the others' are linked */
export async function searchResult(
  backend: Backend,
  { body, receipt, scope }: Answered<SearchAnswer>,
  thumbnails: number,
): Promise<CallToolResult> {
  const lines = [...(body.answered ? [] : [unansweredLine(body)]), ...body.hits.map(hitLine)];
  const items = new Map(body.hits.map(({ item }) => [item.id, item]));
  const links = [...items.values()].map(
    ({ id, name, media_type }): ContentBlock => ({
      type: 'resource_link',
      uri: itemAddress(backend, id, scope),
      name,
      mimeType: media_type,
    }),
  );
  const pictured = body.hits.filter(hasPicture);
  const blocks = [
    ...(await pictures(backend, pictured.slice(0, thumbnails), scope)),
    ...links,
    ...pictured.slice(0, THUMBNAIL_LINKS_MAX).map((hit) => thumbnailLink(backend, hit, scope)),
  ];
  return result(lines.join('\n'), { ...body }, receipt, blocks);
}

/** Best first; the rest can be addressed in the same way. */
const THUMBNAIL_LINKS_MAX = 8;

function thumbnailLink(backend: Backend, { item, locator }: Hit, scope: Scope): ContentBlock {
  return {
    type: 'resource_link',
    uri: thumbnailAddress(itemAddress(backend, item.id, scope), locator),
    name: `thumbnail of ${item.name}${whereOf(locator)}`,
    mimeType: THUMBNAIL_TYPE,
  };
}

/** Included in a workspace; elsewhere each would be a payment of its own, which nobody asked for. */
async function pictures(backend: Backend, hits: readonly Hit[], scope: Scope): Promise<ContentBlock[]> {
  if (scope.workspace === undefined) return [];
  const blocks: ContentBlock[] = [];
  for (const { item, locator } of hits) {
    // What cannot be shown is found all the same.
    const preview = await backend.preview(item.id, locator, scope).catch(() => undefined);
    if (preview) blocks.push({ type: 'image', data: await base64Of(preview), mimeType: THUMBNAIL_TYPE });
  }
  return blocks;
}

export function ingestResult(
  backend: Backend,
  { body, receipt, scope }: Answered<IngestAnswer>,
): CallToolResult {
  const { id, name, media_type, segments, pages } = body.item;
  const size = `${segments} segments${pages === undefined ? '' : `, ${pages} pages`}`;
  const words = body.duplicate ? 'was there already' : `is ${body.job.state}`;
  const link: ContentBlock = {
    type: 'resource_link',
    uri: itemAddress(backend, id, scope),
    name,
    mimeType: media_type,
  };
  return result(`${name} ${words} (${size}).`, { ...body }, receipt, [link]);
}

/** Any other answer: its members, one a line. */
export function recordResult({ body, receipt }: Answered<object>): CallToolResult {
  const lines = Object.entries(body).map(
    ([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return result(lines.join('\n'), { ...body }, receipt);
}

/** A failure that the model may read and act on; a missing payment as x402's MCP transport wants it. */
export function failureResult(error: unknown): CallToolResult {
  if (error instanceof PaymentNeeded) return paymentResult(error);
  const { code, detail, message, status, facts } = error as Error &
    Record<'code' | 'detail' | 'status' | 'facts', unknown>;
  const known = typeof code === 'string' && typeof detail === 'string';
  const told = brief(known ? detail : message);
  return {
    isError: true,
    content: [{ type: 'text', text: known ? `${code}: ${told}` : told }],
    structuredContent: {
      error: {
        code: known ? code : 'failed',
        detail: told,
        status,
        ...(facts as object),
      },
    },
  };
}

function paymentResult({ required, receipt, message }: PaymentNeeded): CallToolResult {
  const data = { ...required, ...(receipt && { [RESPONSE_KEY]: receipt }) };
  return {
    isError: true,
    structuredContent: data,
    content: [{ type: 'text', text: JSON.stringify({ 'x402/error': { code: 402, message, data } }) }],
  };
}

function result(
  text: string,
  structuredContent: Record<string, unknown>,
  receipt: Readonly<Record<string, unknown>> | undefined,
  links: readonly ContentBlock[] = [],
): CallToolResult {
  const content: ContentBlock[] = [{ type: 'text', text }, ...links];
  return { content, structuredContent, ...(receipt && { _meta: { [RESPONSE_KEY]: receipt } }) };
}

function unansweredLine({ reason, hits }: SearchAnswer): string {
  const why = unansweredText(reason);
  return hits.length === 0 ? why : `${why} The nearest:`;
}

function hitLine({ item, locator, confidence, snippet }: Hit, index: number): string {
  const said = snippet ? `: ${snippet.replace(/\s+/g, ' ')}` : '';
  return `${index + 1}. ${item.name}${whereOf(locator)}, confidence ${confidence.toFixed(2)}${said}`;
}

function whereOf({ page, time_s, heading }: Hit['locator']): string {
  const where = [page && `page ${page}`, time_s !== undefined && `${time_s} s`, heading].filter(Boolean);
  return where.length === 0 ? '' : ` (${where.join(', ')})`;
}
