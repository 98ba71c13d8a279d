import type { Block } from '../../domain/document.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';

/** Tags that describe a recording, with their names in hits. */
const TAGS: readonly (readonly [tag: string, name: string])[] = [
  ['title', 'Title'],
  ['artist', 'Artist'],
  ['album_artist', 'Album artist'],
  ['album', 'Album'],
  ['composer', 'Composer'],
  ['genre', 'Genre'],
  ['date', 'Date'],
  ['show', 'Show'],
  ['description', 'Description'],
  ['synopsis', 'Synopsis'],
  ['comment', 'Comment'],
  ['copyright', 'Copyright'],
];

const TAG_LENGTH_MAX = 20_000;

export function titleTag(tags: Readonly<Record<string, string>>): string | undefined {
  const title = shorten(lowered(tags).get('title') ?? '', 300);
  return title === '' ? undefined : title;
}

/** The tags in words, lyrics last; undefined where there are none. */
export function tagBlock(tags: Readonly<Record<string, string>>): Block | undefined {
  const found = lowered(tags);
  const lines = TAGS.flatMap(([tag, name]) => {
    const value = found.get(tag);
    return value ? [`${name}: ${value}`] : [];
  });
  const lyrics = [...found].filter(([tag]) => /^(unsynced)?lyrics/.test(tag)).map(([, text]) => text);
  const text = [lines.join('\n'), ...lyrics].filter((part) => part !== '').join('\n\n');
  if (text === '') return undefined;
  return lyrics.length > 0 ? { text } : { text, source: 'metadata' };
}

function lowered(tags: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(tags).map(([tag, value]) => [
      tag.toLowerCase(),
      withoutControls(value.slice(0, TAG_LENGTH_MAX)).trim(),
    ]),
  );
}
