import type { Block } from '@farthing/protocol/document';
import type { Sink } from '../reading/sink.ts';
import { withoutControls } from '../text/charset.ts';
import { cut, shorten, TITLE_LENGTH_MAX } from '../text/outline.ts';

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
  // All of it is in the block of tags.
  const title = shorten(lowered(tags).get('title') ?? '', TITLE_LENGTH_MAX);
  return title === '' ? undefined : title;
}

/** The tags in words, lyrics last; undefined where there are none. */
export function tagBlock(tags: Readonly<Record<string, string>>, report: Sink['notRead']): Block | undefined {
  const found = lowered(tags);
  const lines = TAGS.flatMap(([tag, name]) => {
    const value = found.get(tag);
    return value ? [`${name}: ${cut(value, TAG_LENGTH_MAX, report)}`] : [];
  });
  const lyrics = [...found]
    .filter(([tag]) => /^(unsynced)?lyrics/.test(tag))
    .map(([, text]) => cut(text, TAG_LENGTH_MAX, report));
  const text = [lines.join('\n'), ...lyrics].filter((part) => part !== '').join('\n\n');
  if (text === '') return undefined;
  return lyrics.length > 0 ? { text } : { text, source: 'metadata' };
}

function lowered(tags: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(tags).map(([tag, value]) => [tag.toLowerCase(), withoutControls(value).trim()]),
  );
}
