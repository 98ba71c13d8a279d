import type { Encoder } from '@farthing/engine/encode/encoder';
import type { Kv } from '../stores/kv.ts';

/** A space of vectors, and what fills it. */
export interface AgreedSpace {
  readonly name: string;
  /** Identity of the model's weights and their arithmetic. */
  readonly modelSha256: string;
  /** Description for people: the model, its file of weights and what runs it. */
  readonly weights: string;
}

/** Spaces on which the servers of a cluster must agree. */
export function agreedSpaces({ spaces, otherLanguages: other }: Encoder): AgreedSpace[] {
  return other ? [...spaces, { ...other, name: `${other.name} in other languages` }] : [...spaces];
}

/**
 * The first server of a cluster writes down which models fill its spaces, and with which arithmetic. One that differs may not
 * claim slots: new indexes would depend on who makes them.
 * @returns how this server differs; undefined where it has the same @throws AnswerLostError
 */
export async function agreeOnModels(
  kv: Kv,
  cluster: string,
  own: readonly AgreedSpace[],
): Promise<string | undefined> {
  const { from, to } = modelsRange(cluster);
  const spaces = own.map(({ name, modelSha256, weights }) => ({ name, modelSha256, weights }));
  for (;;) {
    const [row] = await kv.range(from, to);
    if (row) return differenceOf(JSON.parse(Buffer.from(row.value).toString()) as AgreedSpace[], spaces);
    const value = Buffer.from(JSON.stringify(spaces));
    const { done } = await kv.commit({ when: [{ key: from, revision: 0 }], puts: [{ key: from, value }] });
    if (done) return undefined;
  }
}

/** The next server that starts decides on the models. @throws AnswerLostError */
export async function forgetModels(kv: Kv, cluster: string): Promise<void> {
  await kv.commit({ when: [], deletes: [modelsRange(cluster)] });
}

function differenceOf(agreed: readonly AgreedSpace[], own: readonly AgreedSpace[]): string | undefined {
  const names = new Set([...agreed, ...own].map(({ name }) => name));
  const differences = [...names].flatMap((name) => {
    const [theirs, ours] = [agreed, own].map((spaces) => spaces.find((space) => space.name === name));
    if (theirs?.modelSha256 === ours?.modelSha256) return [];
    const said = (space: AgreedSpace | undefined) => space?.weights ?? 'nothing';
    return `${name} is filled by ${said(theirs)} in the cluster, and by ${said(ours)} here`;
  });
  return differences.length > 0 ? differences.join('; ') : undefined;
}

function modelsRange(cluster: string): { readonly from: string; readonly to: string } {
  const key = `/farthing/${cluster}/models`;
  return { from: key, to: `${key}\0` };
}
