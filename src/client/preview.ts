import type { Hit, Locator } from './answers/answers.ts';

/** Which part of an item a small picture shows: a hit's `locator` is one. Neither: the first page, or the only one. */
export type PreviewPart = Pick<Locator, 'page' | 'time_s'>;

export interface PreviewOptions {
  readonly signal?: AbortSignal;
}

/** A text's preview shows nothing that the snippet doesn't; a sound has none. */
export function hasPicture({ item: { media_type } }: Hit): boolean {
  return !/^(text|audio)\//.test(media_type);
}

/** Path of an item's small picture (WebP), below its owner's. */
export function previewPath(item: string, { page, time_s }: PreviewPart): string {
  return `/items/${encodeURIComponent(item)}/preview${queryOf({ page, time_s })}`;
}

/** The given values as a query, with its question mark; empty without any. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
