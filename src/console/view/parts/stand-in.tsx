import type { Hit } from '@farthing/client';
import { kindOf } from '../../model/search/results.ts';
import { FilmIcon, PageIcon, PictureIcon } from '../controls/icons.tsx';

const ICONS = { picture: PictureIcon, film: FilmIcon, sound: FilmIcon, text: PageIcon } as const;

/** Where a picture is to come, or where there is none: an icon of its kind, and a word. As little is read aloud as of the picture. */
export function StandIn({ of, word }: { of: Pick<Hit, 'item'>; word: string }) {
  const Icon = ICONS[kindOf(of)];
  return (
    <span class="stand-in" aria-hidden="true" data-word={word}>
      <Icon />
    </span>
  );
}
