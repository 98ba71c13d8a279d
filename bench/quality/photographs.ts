import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { BenchWorkspace, inParallel } from '../rig/agent.ts';
import { Reliability, type Reliable } from '../rig/reliability.ts';
import { mean } from '../rig/retrieval.ts';
import { CHANGES, type Photograph, plainNameOf, readPhotographs } from '../sets/photographs.ts';

const CLIENTS = 4;
/** Captions by language and path of the photograph, translated by hand. */
const TRANSLATED = JSON.parse(
  readFileSync(join(import.meta.dirname, '../sets/captions-translated.json'), 'utf8'),
) as Record<string, Record<string, string>>;

/** Pictures in a folder, found by changed copies of them and, where captions.json has one, by their captions. */
export async function judgePhotographs(serverUrl: string, folder: string) {
  const set = basename(folder);
  const workspace = await BenchWorkspace.rent(serverUrl, 240);
  const photographs = await readPhotographs(folder);
  const nameOf = (photograph: Photograph) => plainNameOf(photograph, photographs);
  await inParallel(`ingest ${set}`, photographs, CLIENTS, async (photograph) =>
    workspace.ingest(nameOf(photograph), new Uint8Array(readFileSync(join(folder, photograph.name)))),
  );
  const byPicture: Record<string, number> = {};
  const reliable = new Reliability();
  for (const [change, apply] of Object.entries(CHANGES)) {
    const missed: string[] = [];
    for (const photograph of photographs) {
      const image = await (await apply(sourceOf(photograph), photograph)).png().toBuffer();
      const { hits } = await workspace.search({ image_b64: image.toString('base64'), k: 10 });
      reliable.add(hits, ({ item }) => item.name === nameOf(photograph));
      if (hits[0]?.item.name !== nameOf(photograph))
        missed.push(`${photograph.name} → ${hits[0]?.item.name}`);
    }
    byPicture[change] = rounded(1 - missed.length / photographs.length);
    console.log(
      `${set}  by picture, ${change.padEnd(15)} R@1 ${byPicture[change]!.toFixed(3)}   ${missed.join(', ')}`,
    );
  }
  const overall = rounded(mean(Object.values(byPicture)));
  console.log(
    `${set}  by picture, all changes     R@1 ${overall.toFixed(3)}   (${photographs.length} pictures)`,
  );
  const captions = await judgeCaptions(workspace, photographs, nameOf, set);
  const translated = await judgeTranslated(workspace, photographs, nameOf, set);
  return {
    figures: {
      set,
      pictures: photographs.length,
      by_picture: { ...byPicture, overall },
      ...captions.figures,
      ...translated,
    },
    reliability: [reliable.of(set, 'by picture'), ...captions.reliability],
  };
}

/** The captions of the set in other languages, where there are any. */
async function judgeTranslated(
  workspace: BenchWorkspace,
  photographs: readonly Photograph[],
  nameOf: (photograph: Photograph) => string,
  set: string,
): Promise<object> {
  const by_translated_caption: Record<string, object> = {};
  for (const [language, captions] of Object.entries(TRANSLATED)) {
    const captioned = photographs.map((one) => ({ ...one, caption: captions[one.name] }));
    if (captioned.every(({ caption }) => caption === undefined)) continue;
    const { figures } = await judgeCaptions(workspace, captioned, nameOf, `${set}, ${language}`);
    by_translated_caption[language] = figures.by_caption!;
  }
  return { by_translated_caption };
}

async function judgeCaptions(
  workspace: BenchWorkspace,
  photographs: readonly Photograph[],
  nameOf: (photograph: Photograph) => string,
  set: string,
): Promise<{ figures: { captions?: number; by_caption?: object }; reliability: Reliable[] }> {
  const captioned = photographs.filter(({ caption }) => caption !== undefined);
  if (captioned.length === 0) return { figures: {}, reliability: [] };
  const ranks: number[] = [];
  const reliable = new Reliability();
  for (const photograph of captioned) {
    const { hits } = await workspace.search({ query: photograph.caption, families: ['visual'], k: 100 });
    const isMeant = ({ item }: (typeof hits)[number]) => item.name === nameOf(photograph);
    ranks.push(hits.findIndex(isMeant));
    reliable.add(hits.slice(0, 10), isMeant);
  }
  const within = (cut: number) =>
    rounded(ranks.filter((rank) => rank >= 0 && rank < cut).length / ranks.length);
  const figures = { captions: ranks.length, by_caption: { r_at_1: within(1), r_at_5: within(5) } };
  console.log(
    `${set}  by caption: R@1 ${within(1).toFixed(3)}, R@5 ${within(5).toFixed(3)}   (${ranks.length} captions)`,
  );
  return { figures, reliability: [reliable.of(set, 'by caption')] };
}

function sourceOf({ rgb, width, height }: Photograph): Sharp {
  return sharp(rgb, { raw: { width, height, channels: 3 } });
}

const rounded = (value: number) => Number(value.toFixed(4));
