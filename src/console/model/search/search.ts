import type { HistoryAnswer, Hit } from '@farthing/client';
import { unansweredText } from '@farthing/client/answers/unanswered';
import { floorOf, isWorthShowing, K_DEFAULT } from '@farthing/protocol/search';
import { faultOf } from '../server/attempt.ts';
import { workspaceOf } from '../server/client.ts';
import { keepAnswer, keepPicture, keptAnswer, keptPicture } from '../server/kept-searches.ts';
import { previewOf } from '../server/pictures.ts';
import { refreshUsage } from '../server/usage.ts';
import { type Asked, EMPTY_FORM, type Filter, type QueryPicture } from '../state/asked.ts';
import { session } from '../state/session.ts';
import { readAddress, writeAddress } from './address.ts';
import { filterOf, orderOf } from './only.ts';
import { readPast } from './past.ts';
import { deeper, hasPagePicture, placeNameOf } from './results.ts';

let running: AbortController | undefined;

export function changeForm(changes: Partial<Asked>): void {
  session.set({ form: { ...session.value.form, ...changes } });
}

/** Searches with the form's words and picture. A running search is cancelled. */
export async function search(): Promise<void> {
  const { form } = session.value;
  await ask({ ...form, query: form.query.trim(), k: K_DEFAULT, like: undefined });
}

/** Takes a picture to search with, in place of a former one. Words that were searched for already go; new ones stay with it. */
export async function takePicture(blob: Blob, name: string): Promise<void> {
  const picture = await pictureOf(blob, name);
  const { form, search: last } = session.value;
  changeForm({ picture, query: form.query === last?.asked.query ? '' : form.query });
  session.set({ said: `Searching with ${name}.` });
  await search();
}

/** Searches with what a hit shows: its picture, or else its words. */
export async function moreLike(hit: Hit): Promise<void> {
  const { opened, form } = session.value;
  if (!opened) return;
  const shown = hasPagePicture(hit) && (hit.family === 'visual' || hit.snippet === undefined);
  const preview = shown ? await previewOf(opened, hit) : undefined;
  // A second address: the preview's may be freed while this one is still shown.
  const picture = preview && (await pictureOf(preview.blob, hit.item.name));
  await ask({
    ...form,
    query: picture ? '' : (hit.snippet ?? hit.item.name).slice(0, 400),
    picture,
    k: K_DEFAULT,
    like: placeNameOf(hit),
  });
}

/** Searches again as the history says; its picture must still be in this browser. */
export async function repeat(entry: HistoryAnswer['entries'][number]): Promise<void> {
  const { query = '', image_sha256, families = [], k } = entry;
  const picture = image_sha256 === undefined ? undefined : await recalled(image_sha256);
  if (image_sha256 !== undefined && !picture) {
    session.set({
      said: 'Its picture is no longer here.',
      fault: 'The picture of this search is no longer here.',
    });
    if (query === '') return;
  }
  await ask({ query, picture, families, k });
}

/** Asks for more hits than the answer has. */
export async function searchDeeper(): Promise<void> {
  const { search } = session.value;
  const k = search && deeper(search.asked.k, search.answer.hits.length);
  if (search && k !== undefined) await ask({ ...search.asked, k }, 'replace');
}

/** Shows some of the answer's hits; the address says which. */
export function filterBy(changes: Filter): void {
  const filter = { ...session.value.filter, ...changes };
  session.set({ filter });
  const { search } = session.value;
  if (search) history.replaceState(null, '', addressOf(search.asked, filter));
}

/** Shows the search that the address names: kept answers at once, others by searching. */
export async function openAddress(): Promise<void> {
  const address = readAddress(location.hash);
  const { opened } = session.value;
  running?.abort();
  if (!address) {
    session.set({
      form: EMPTY_FORM,
      search: undefined,
      searchFault: undefined,
      searching: false,
      filter: {},
    });
    return;
  }
  const picture = address.picture === undefined ? undefined : await recalled(address.picture);
  const { query, families, k, like, only, order } = address;
  const asked: Asked = { query, picture, families, k, like, only, order };
  session.set({ form: asked, filter: address.filter });
  if (!opened) return;
  const kept = await keptAnswer(opened.id, addressOf(asked));
  if (kept) session.set({ search: { asked, ...kept }, searchFault: undefined, searching: false });
  else await run(asked);
}

function addressOf({ query, picture, families, k, like, only, order }: Asked, filter: Filter = {}): string {
  return writeAddress({ query, picture: picture?.digest, families, k, like, only, order, filter });
}

async function recalled(digest: string): Promise<QueryPicture | undefined> {
  const kept = await keptPicture(digest);
  return kept && { ...kept, digest, address: URL.createObjectURL(kept.blob) };
}

async function pictureOf(blob: Blob, name: string): Promise<QueryPicture> {
  const address = URL.createObjectURL(blob);
  const hashed = await globalThis.crypto.subtle?.digest('SHA-256', await blob.arrayBuffer());
  if (!hashed) return { blob, name, address };
  const digest = Array.from(new Uint8Array(hashed), (byte) => byte.toString(16).padStart(2, '0')).join('');
  await keepPicture(digest, { blob, name });
  return { blob, name, address, digest };
}

/** A search that the user began: it has its own place in the browser's history. */
async function ask(asked: Asked, place: 'push' | 'replace' = 'push'): Promise<void> {
  if (asked.query === '' && !asked.picture) return;
  const address = addressOf(asked);
  if (place === 'push' && address !== location.hash) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  session.set({ form: asked, ...(place === 'push' && { filter: {} }) });
  await run(asked);
}

async function run(asked: Asked): Promise<void> {
  const { opened } = session.value;
  if (!opened || (asked.query === '' && !asked.picture)) return;
  running?.abort();
  const mine = new AbortController();
  running = mine;
  session.set({ searching: true, searchFault: undefined, fault: undefined });
  try {
    const started = performance.now();
    const found = await workspaceOf(opened).search({
      query: asked.query || undefined,
      image: asked.picture?.blob,
      families: asked.families.length > 0 ? asked.families : undefined,
      k: asked.k,
      filter: asked.only && filterOf(asked.only),
      order: orderOf(asked.order),
      // Similar hits are compared with the given one; none of them need be an answer.
      minConfidence: asked.like === undefined ? floorOf(asked.picture !== undefined) : 0,
      signal: mine.signal,
    });
    const shows = (hit: Hit) =>
      asked.like === undefined ? isWorthShowing(hit) : placeNameOf(hit) !== asked.like;
    const answer = { ...found, hits: found.hits.filter(shows) };
    const roundTripMs = performance.now() - started;
    if (running !== mine || session.value.opened?.id !== opened.id) return;
    const count = answer.hits.length === 1 ? 'one hit' : `${answer.hits.length} hits`;
    session.set({
      search: { asked, answer, roundTripMs },
      searching: false,
      said: `${answer.answered ? '' : `${unansweredText(answer.reason)} `}${count} in ${Math.round(answer.latency_ms)} milliseconds.`,
    });
    // An index that is being filled answers otherwise the next time.
    if (answer.hits.length > 0) await keepAnswer(opened.id, addressOf(asked), { answer, roundTripMs });
    await Promise.all([refreshUsage(), readPast()]);
  } catch (error) {
    if (mine.signal.aborted || running !== mine) return;
    session.set({ search: undefined, searchFault: faultOf(error) });
    // It may be the workspace's end.
    await refreshUsage().catch(() => undefined);
  } finally {
    if (running === mine) session.set({ searching: false });
  }
}
