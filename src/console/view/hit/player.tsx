import { useEffect, useRef, useState } from 'preact/hooks';
import type { Hit } from '../../../client/index.ts';
import { kindOf } from '../../model/search/results.ts';
import { Thumbnail } from '../results/thumbnail.tsx';
import { useContent } from './use-content.ts';

/** Plays a film or sound from a second; until its file is here, the moment's picture stands for it. */
export function Player({ hit, at }: { hit: Hit; at: number }) {
  const { item } = hit;
  const { address, fault } = useContent(item.id, true);
  const place = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  useEffect(() => {
    if (place.current) place.current.currentTime = at;
  }, [at, address]);
  const [isPlayable, setPlayable] = useState(true);
  const isFilm = kindOf(hit) === 'film';
  const picture = isFilm && <Thumbnail of={{ item, locator: { time_s: at } }} />;
  if (fault !== undefined || !isPlayable)
    return (
      <div class="large">
        {picture}
        <p class="quiet">{fault ?? 'This browser cannot play the file. Save it to play it elsewhere.'}</p>
      </div>
    );
  if (address === undefined)
    return (
      <div class="large" data-state="loading">
        {picture}
      </div>
    );
  const media = { ref: place, controls: true, src: `${address}#t=${at}`, onError: () => setPlayable(false) };
  // Files that a workspace was given have no captions beside them.
  return isFilm ? <video class="large" autoPlay muted {...media} /> : <audio class="large" {...media} />;
}
