import { unansweredText } from '../../../client/answers/unanswered.ts';
import type { Family, Hit } from '../../../client/index.ts';
import { CONFIDENCE_FLOOR } from '../../../domain/search.ts';
import { workspaceOf } from '../client.ts';
import { previewOf } from '../pictures.ts';
import { type Asked, type QueryPicture, session } from '../session.ts';
import { faultOf, refreshUsage } from '../workspace/workspace.ts';

export interface SearchOptions {
  /** None: all that apply. */
  readonly families: readonly Family[];
  readonly k: number;
}

let options: SearchOptions = { families: [], k: 30 };
let running: AbortController | undefined;

export function setOptions(changed: SearchOptions): void {
  options = changed;
}

/** Takes a picture to search with, in place of a former one. */
export function takePicture(blob: Blob, name: string): void {
  dropPicture();
  session.set({
    picture: { blob, name, address: URL.createObjectURL(blob) },
    said: `Searching with ${name}.`,
  });
  void search();
}

export function dropPicture(): void {
  session.set({ picture: undefined });
}

/** Searches with the field's words and the picture. A running search is cancelled. */
export async function search(): Promise<void> {
  const { query, picture } = session.value;
  await run({ query: query.trim(), picture });
}

/** Searches with what a hit shows: its picture, or else its words. */
export async function moreLike(hit: Hit): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  const picture = hit.family === 'visual' || hit.snippet === undefined ? await pictureOf(hit) : undefined;
  const query = picture ? '' : (hit.snippet ?? '').slice(0, 400);
  session.set({ query, picture });
  await run({ query, picture });
}

async function pictureOf(hit: Hit): Promise<QueryPicture | undefined> {
  const { opened } = session.value;
  if (!opened) return undefined;
  const picture = await previewOf(opened, hit);
  // A second address: the preview's may be freed while this one is still shown.
  return picture && { blob: picture.blob, name: hit.item.name, address: URL.createObjectURL(picture.blob) };
}

async function run(asked: Asked): Promise<void> {
  const { opened } = session.value;
  if (!opened || (asked.query === '' && !asked.picture)) return;
  running?.abort();
  const mine = new AbortController();
  running = mine;
  session.set({ searching: true, fault: undefined });
  try {
    const started = performance.now();
    const answer = await workspaceOf(opened).search({
      query: asked.query || undefined,
      image: asked.picture?.blob,
      families: options.families.length > 0 ? options.families : undefined,
      k: options.k,
      minConfidence: CONFIDENCE_FLOOR,
      signal: mine.signal,
    });
    if (running !== mine || session.value.opened?.id !== opened.id) return;
    const found = answer.hits.length === 1 ? 'one hit' : `${answer.hits.length} hits`;
    session.set({
      search: { asked, answer, roundTripMs: performance.now() - started },
      said: `${answer.answered ? '' : `${unansweredText(answer.reason)} `}${found} in ${Math.round(answer.latency_ms)} milliseconds.`,
    });
    await refreshUsage();
  } catch (error) {
    if (!mine.signal.aborted) session.set({ fault: faultOf(error) });
  } finally {
    if (running === mine) session.set({ searching: false });
  }
}

/** An item's whole file, as a blob that the caller frees. */
export async function contentOf(item: string): Promise<string> {
  const { opened } = session.value;
  if (!opened) throw new Error('No workspace is open.');
  return URL.createObjectURL(await workspaceOf(opened).content(item));
}
