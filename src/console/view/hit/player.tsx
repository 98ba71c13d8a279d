import { useEffect, useRef } from 'preact/hooks';
import type { Hit } from '../../../client/index.ts';
import { kindOf } from '../../model/search/results.ts';
import { Thumbnail } from '../results/thumbnail.tsx';
import { useContent } from './use-content.ts';

/** Plays a film or sound from a second; until its file is here, the moment's picture stands for it. */
export function Player({ hit, at }: { hit: Hit; at: number }) {
  const { item } = hit;
  const { address, fault } = useContent(item.id, true);
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  useEffect(() => {
    if (media.current) media.current.currentTime = at;
  }, [at, address]);
  if (fault !== undefined) return <p class="large fault">{fault}</p>;
  const isFilm = kindOf(hit) === 'film';
  if (address === undefined)
    return (
      <div class="large" data-state="loading">
        {isFilm && <Thumbnail of={{ item, locator: { time_s: at } }} />}
      </div>
    );
  // Files that a workspace was given have no captions beside them.
  return isFilm ? (
    <video class="large" ref={media} controls autoPlay muted src={`${address}#t=${at}`} />
  ) : (
    // biome-ignore lint/a11y/useMediaCaption: see above
    <audio class="large" ref={media} controls src={`${address}#t=${at}`} />
  );
}
