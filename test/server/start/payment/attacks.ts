import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { PAY_TO, PRICE, type Signing, sign } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** The attacks of docs/attacks.md, over HTTP against a whole server. */

export type Headers = Record<string, string>;
export type Attacks = Readonly<Record<string, () => Promise<string>>>;

export interface Seen {
  readonly status: number;
  readonly text: string;
  /** In the words of the table: the status, and `error` of a 402 or `code` of a problem. */
  readonly outcome: string;
}

export const inXPayment = (header: string): Headers => ({ 'X-PAYMENT': header });
export const nowSeconds = () => BigInt(Math.floor(Date.now() / 1000));
/** The outcome that all of them share; otherwise what they were. */
export const same = (outcomes: readonly string[]) => [...new Set(outcomes)].join(', ');

/** A server that is attacked, and a payer with one file in the index. */
export async function attacked(t: Test, times: Parameters<typeof startTestServer>[2] = {}) {
  const limits = { TENANT_REQUESTS_PER_SECOND: '10000' };
  const server = await startTestServer(t, { PAY_TO, ...limits }, times);
  const agent = new TestAgent(server.url);
  await agent.ingest('log.txt', 'The lighthouse keeper counts gulls at dawn.');
  const send = async (path: string, body: string, headers: Headers): Promise<Seen> => {
    const response = await fetch(server.url + path, { method: 'POST', body, headers });
    const { status } = response;
    const text = await response.text();
    const { error, code, charged } = JSON.parse(text || '{}') as Record<string, unknown>;
    const word = status < 300 ? (charged === true ? 'charged' : 'uncharged') : (error ?? code ?? '');
    return { status, text, outcome: `${status} ${word}`.trim() };
  };
  let queries = 0;
  const newQuery = () => JSON.stringify({ query: `who watches birds in the morning, ${++queries}?` });
  const search = (headers: Headers, body = newQuery()) => send('/agent/v1/search', body, headers);
  return {
    server,
    agent,
    send,
    newQuery,
    search,
    /** Signed by the payer, and valid for as long as the 402 asks. */
    pay: (signing: Signing = {}) => sign(agent.account, { validBefore: nowSeconds() + 280n, ...signing }),
    /** Buys a search, on purpose. @returns its price */
    buySearch: async (headers: Headers, body = newQuery()): Promise<bigint> => {
      const { outcome, text } = await search(headers, body);
      if (outcome !== '200 charged') throw new Error(`a good payment was answered ${outcome}: ${text}`);
      return PRICE;
    },
  };
}

/** How those of many requests at once were refused that a busy machine did not send away. */
export const refusalsOf = (seen: readonly Seen[]): readonly string[] =>
  seen.flatMap(({ status, outcome }) => (status < 300 || outcome === '503 overloaded' ? [] : [outcome]));

/** Summary of the answers to many simultaneous copies. */
export function atOnce(seen: readonly Seen[]): string {
  const answers = new Set(seen.filter(({ status }) => status === 200).map(({ text }) => text));
  const others = refusalsOf(seen);
  const known = others.every((outcome) => outcome === '402 authorization_already_used');
  return `one charge, ${answers.size} answer, ${known ? 'any others 402 authorization_already_used' : same(others)}`;
}

/** Each attack ends as the rows of some sections of docs/attacks.md say. */
export async function asDocumented(
  t: Test,
  attacks: Attacks,
  isAsked: (section: string) => boolean,
): Promise<void> {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/attacks.md'), 'utf8');
  const sections = page.split(/^## /m).filter((section) => isAsked(section.split('\n', 1)[0]!));
  const rows = sections.join('').matchAll(/^\| (?!attack |---)(.+?) \| (.+?) \|$/gm);
  const table = new Map([...rows].map(([, attack, outcome]) => [attack!, outcome!.replaceAll('`', '')]));
  t.same(Object.keys(attacks), [...table.keys()], 'the same rows');
  for (const [attack, perform] of Object.entries(attacks))
    t.equal(await perform(), table.get(attack), attack);
}
