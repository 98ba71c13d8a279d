import { Farthing, type FarthingOptions, type Source, verifyReceipt } from 'farthing/client';

/** What an agent does from its first payment to a verified receipt, in words that every runtime knows. */

const QUESTION = 'how do insects tell each other where food is?';

export interface JourneyReport {
  readonly searchedEmpty: { readonly hits: number; readonly charged: boolean };
  readonly item: { readonly state: string; readonly media_type: string };
  readonly hit: { readonly name: string; readonly page: number | undefined };
  readonly preview: string;
  readonly payments: readonly string[];
  readonly stages: readonly string[];
  readonly inside: readonly string[];
  readonly overBudget: string;
  readonly claims: { readonly items: unknown; readonly reason: unknown };
  readonly forged: string;
  readonly afterwards: string;
  readonly spentUsd: string;
}

/** @param pdf the almanac among the samples */
export async function journey(
  baseUrl: string,
  payer: Partial<Pick<FarthingOptions, 'account' | 'signer'>>,
  pdf: Source,
): Promise<JourneyReport> {
  const payments: string[] = [];
  const onPayment = ({ usd }: { usd: string }) => void payments.push(usd);
  const farthing = new Farthing({ baseUrl, ...payer, budgetUsd: '0.10', onPayment });
  const empty = await farthing.search('nothing is there yet');
  const { item } = await farthing.ingest(pdf, { name: 'almanac.pdf' });
  const [hit] = (await farthing.search({ query: QUESTION, k: 1 })).hits;
  const preview = await farthing.preview(hit!.item.id, hit!.locator);

  const workspace = await farthing.workspaces.create({ ttlMinutes: 15 });
  const stages = new Set<string>();
  await workspace.ingest(new Blob(['A puffin is no gull.']).stream(), {
    name: 'puffin.txt',
    onProgress: ({ stage }) => void stages.add(stage),
  });
  await workspace.ingestMany([new File(['A tern dives.'], 'tern.txt')]);
  const inside = await workspace.search({ query: 'puffin', families: ['raw'] });
  const overBudget = await codeOf(farthing.workspaces.create({ ttlMinutes: 600 }));
  const { claims, receipt } = await workspace.dispose();
  const keys = (await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as Parameters<
    typeof verifyReceipt
  >[1];
  const [head, , signature] = receipt.split('.');
  return {
    searchedEmpty: { hits: empty.hits.length, charged: empty.charged },
    item: { state: item.state, media_type: item.media_type },
    hit: { name: hit!.item.name, page: hit!.locator.page },
    preview: preview.type,
    payments,
    stages: [...stages],
    inside: inside.hits.map(({ item: { name } }) => name),
    overBudget,
    claims: { items: claims.items, reason: claims.reason },
    forged: await codeOf(verifyReceipt(`${head}.${btoa('{"items":0}')}.${signature}`, keys)),
    afterwards: await codeOf(workspace.usage()),
    spentUsd: farthing.spending.spentUsd,
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: { code?: unknown }) => String(error.code),
  );
}
