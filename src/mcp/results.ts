import type { AcceptedIngest, AskedQuestion, Hit, Item, SearchAnswer } from '@farthing/client';
import { understoodTexts } from '@farthing/client/answers/corrected';
import { unansweredText } from '@farthing/client/answers/unanswered';
import { hasPicture } from '@farthing/client/preview';
import { brief } from '@farthing/protocol/brief';
import { sayNotRead } from '@farthing/protocol/file/not-read';
import { dataOf, factsOf, type ShownField, type Voice } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { isWorthShowing, shownFirst } from '@farthing/protocol/search';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { type Answered, type ItemSource, itemAddress, PaymentNeeded, type Scope } from './backend.ts';
import { base64Of, THUMBNAIL_TYPE, thumbnailAddress } from './resources.ts';

/** Results as text for the model, as data for the program, and with links to the items. */

const RESPONSE_KEY = 'x402/payment-response';

const SNIPPET_LENGTH_MAX = 400;

/** A call's display options for hits. */
interface ShownBy {
  readonly thumbnails?: number | undefined;
  readonly k?: number | undefined;
  readonly min_confidence?: number | undefined;
  readonly like?: unknown;
  readonly queries?: readonly AskedQuestion[] | undefined;
  readonly fused?: boolean | undefined;
}

/** The displayed part of the answer to one question. */
type Shown = Pick<SearchAnswer, 'hits' | 'answered' | 'reason' | 'corrected' | 'relaxed' | 'truncated'>;

/** The hits that are worth a model's context, as text and as data. */
export async function searchResult(
  source: ItemSource,
  { body, receipt, scope }: Answered<SearchAnswer>,
  { thumbnails = 0, k, min_confidence, like, queries = [], fused = false }: ShownBy,
): Promise<CallToolResult> {
  const isChosen = k !== undefined || min_confidence !== undefined;
  const one = (shown: Shown) => {
    const isEach = min_confidence !== undefined || like !== undefined;
    const hits = isEach ? shown.hits : shown.hits.filter(isWorthShowing);
    return answerText({ ...shown, hits }, isChosen);
  };
  const several = fused ? undefined : body.answers?.map(({ hits = [], ...rest }) => one({ hits, ...rest }));
  const whole = one(body);
  const titles = queries.map((question) => brief(wordsOf(question), SNIPPET_LENGTH_MAX));
  const text = several?.map(({ text }, at) => `${at + 1}) ${titles[at]}\n${text}`).join('\n\n') ?? whole.text;
  const hits = several?.flatMap((each) => each.hits) ?? whole.hits;
  const items = new Map(hits.map(({ item }) => [item.id, item]));
  const links = [...items.values()].map(
    ({ id, name, media_type }): ContentBlock => ({
      type: 'resource_link',
      uri: itemAddress(source, id, scope),
      name,
      mimeType: media_type,
    }),
  );
  const pictured = hits.filter(hasPicture);
  const blocks = [
    ...(await pictures(source, pictured.slice(0, thumbnails), scope)),
    ...links,
    ...pictured.slice(0, THUMBNAIL_LINKS_MAX).map((hit) => thumbnailLink(source, hit, scope)),
  ];
  const { latency_ms, exact, charged } = body;
  const data = {
    ...whole.data,
    ...(several && { answers: several.map((each) => each.data) }),
    latency_ms,
    exact,
    charged,
  };
  return result(text, data, receipt, blocks);
}

function wordsOf(question: AskedQuestion): string {
  if (typeof question === 'string') return question;
  if (question.query !== undefined) return question.query;
  return `like ${typeof question.like === 'string' ? question.like : question.like.item}`;
}

/** Less likely hits are left out. @param isChosen how many hits, or how likely ones, was said: all are shown */
function answerText(shown: Shown, isChosen: boolean) {
  const { answered, reason, corrected, relaxed, truncated } = shown;
  const hits = isChosen ? shown.hits : shownFirst(shown.hits);
  const leftOut = shown.hits.length - hits.length;
  const lines = [
    ...understoodTexts(shown),
    ...(answered ? [] : [unansweredLine(shown)]),
    ...hits.map(hitLine),
    ...(leftOut > 0 ? [`${leftOut} less likely left out; k shows them.`] : []),
    ...(truncated ? ['Cut at max_chars: there is more.'] : []),
  ];
  const data = {
    hits: hits.map(hitData),
    answered,
    ...(reason && { reason }),
    ...(corrected !== undefined && { corrected }),
    ...(relaxed && { relaxed }),
    ...(truncated !== undefined && { truncated }),
    ...(leftOut > 0 && { left_out: leftOut }),
  };
  return { hits, text: lines.join('\n'), data };
}

/** A hit as data for programs; boxes, scores and digests are in the answer over HTTP. */
function hitData({ snippet, text_source, also, ...hit }: Hit): object {
  return dataOf(SHOWN_FIELDS.hit, {
    ...hit,
    // Other text is what the file says; this is what a model heard.
    ...(text_source === 'speech' && { text_source }),
    ...(hit.text === undefined && snippet && { snippet: brief(snippet, SNIPPET_LENGTH_MAX) }),
    ...(also && { also: also.map(({ locator, snippet = '' }) => ({ locator, snippet: briefly(snippet) })) }),
  });
}

/** The best hits; other thumbnails have addresses of the same form. */
const THUMBNAIL_LINKS_MAX = 3;

function thumbnailLink(source: ItemSource, { item, locator }: Hit, scope: Scope): ContentBlock {
  return {
    type: 'resource_link',
    uri: thumbnailAddress(itemAddress(source, item.id, scope), locator),
    name: `thumbnail of ${item.name}${whereOf(locator)}`,
    mimeType: THUMBNAIL_TYPE,
  };
}

/** Only in a workspace, where previews are included: elsewhere each would be a payment that the model did not request. */
async function pictures(source: ItemSource, hits: readonly Hit[], scope: Scope): Promise<ContentBlock[]> {
  if (scope.workspace === undefined) return [];
  const blocks: ContentBlock[] = [];
  for (const { item, locator } of hits) {
    // A hit without a preview is still a hit.
    const preview = await source.preview(item.id, locator, scope).catch(() => undefined);
    if (preview) blocks.push({ type: 'image', data: await base64Of(preview), mimeType: THUMBNAIL_TYPE });
  }
  return blocks;
}

export function ingestResult(
  source: ItemSource,
  { body, receipt, scope }: Answered<AcceptedIngest>,
): CallToolResult {
  const { item, job, duplicate } = body;
  if (!item) {
    const text = brief(`The file was not added: ${job.error?.detail ?? `its job is ${job.state}`}`);
    return { ...result(text, { ...body }, receipt), isError: true };
  }
  const { id, name, media_type } = item;
  const words = duplicate ? 'was there already' : `is ${job.state}`;
  const link: ContentBlock = {
    type: 'resource_link',
    uri: itemAddress(source, id, scope),
    name,
    mimeType: media_type,
  };
  // The job's state says it.
  const facts = factsLine(SHOWN_FIELDS.item, { ...item, state: undefined });
  return result(`${namesOf(item)} ${words}: ${facts}.`, { ...body }, receipt, [link]);
}

/** `notes.txt = copy.txt` */
export function namesOf({ name, aliases = [] }: Pick<Item, 'name' | 'aliases'>): string {
  return [name, ...aliases].join(' = ');
}

/** Any other answer: its fields, one per line. */
export function recordResult({ body, receipt }: Answered<object>): CallToolResult {
  const lines = Object.entries(body).map(
    ([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return result(lines.join('\n'), { ...body }, receipt);
}

/** A failure that the model can read and act on; a missing payment in the form of x402's MCP transport. */
export function failureResult(error: unknown): CallToolResult {
  if (error instanceof PaymentNeeded) return paymentResult(error);
  const { code, detail, message, status, facts } = error as Error &
    Record<'code' | 'detail' | 'status' | 'facts', unknown>;
  const known = typeof code === 'string' && typeof detail === 'string';
  const text = brief(`${known ? detail : message}${hintFor(code)}`);
  return {
    isError: true,
    content: [{ type: 'text', text: known ? `${code}: ${text}` : text }],
    structuredContent: {
      error: {
        code: known ? code : 'failed',
        detail: text,
        status,
        ...(facts as object),
      },
    },
  };
}

/** The remedy, for a model or the person beside it. */
function hintFor(code: unknown): string {
  switch (code) {
    case 'wallet_missing':
      return ' This call is paid: ask the person to run "npx farthing wallet new". It is found without a restart.';
    case 'workspace_unauthorized':
      return ' If it has expired, workspace_create rents another.';
    default:
      return '';
  }
}

function paymentResult({ required, receipt, message }: PaymentNeeded): CallToolResult {
  const data = { ...required, ...(receipt && { [RESPONSE_KEY]: receipt }) };
  return {
    isError: true,
    structuredContent: data,
    content: [{ type: 'text', text: JSON.stringify({ 'x402/error': { code: 402, message, data } }) }],
  };
}

export function result(
  text: string,
  structuredContent: Record<string, unknown>,
  receipt: Readonly<Record<string, unknown>> | undefined,
  links: readonly ContentBlock[] = [],
): CallToolResult {
  const content: ContentBlock[] = [{ type: 'text', text }, ...links];
  return { content, structuredContent, ...(receipt && { _meta: { [RESPONSE_KEY]: receipt } }) };
}

function unansweredLine({ reason, hits }: Shown): string {
  const why = unansweredText(reason);
  return hits.length === 0 ? why : `${why} The nearest:`;
}

function hitLine(hit: Hit, index: number): string {
  const { item, locator, snippet, text, also = [] } = hit;
  const passage = snippet && `: ${briefly(snippet)}`;
  const others = also.map(({ snippet = '' }) => `\n   also: ${briefly(snippet)}`);
  const said = text === undefined ? (passage ?? '') : `:\n${text}`;
  return `${index + 1}. ${item.name}${whereOf(locator)}, ${factsLine(SHOWN_FIELDS.hit, hit)}, ${item.id}${said}${others.join('')}`;
}

const briefly = (snippet: string) => brief(snippet.replace(/\s+/g, ' '), SNIPPET_LENGTH_MAX);

/** Each kind of value as a model reads it. */
const VOICE: Voice = {
  moments: (moments: Required<Hit>['moments'], { most }) =>
    `also at ${moments
      .slice(0, most)
      .map(({ time_s }) => `${Math.round(time_s)} s`)
      .join(', ')}`,
  not_read: (parts: Required<Item>['not_read']) =>
    parts.length === 0 ? undefined : `not read: ${parts.map(sayNotRead).join('; ')}`,
};

/** The fields of a record that its line has. */
export function factsLine(fields: readonly ShownField[], record: object): string {
  return factsOf(fields, record, 'line', VOICE)
    .map(({ value, beside }) => value + beside)
    .join(', ');
}

/** ` (page 3, Bees)`; empty without a locator. */
export function whereOf({ page, page_kind, time_s, heading }: Hit['locator']): string {
  const where = [
    page && `${page_kind ?? 'page'} ${page}`,
    time_s !== undefined && `${time_s} s`,
    heading,
  ].filter(Boolean);
  return where.length === 0 ? '' : ` (${where.join(', ')})`;
}
