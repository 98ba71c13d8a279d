import type { Hit } from '@farthing/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { kindOf } from '../../model/search/results.ts';
import { Thumbnail } from '../parts/thumbnail.tsx';
import { useCaptions, useContent } from './use-content.ts';

/** Plays a film or sound from a second; until its file is here, the moment's picture is shown. */
export function Player({ hit, at }: { hit: Hit; at: number }) {
  const { item } = hit;
  const { address, fault } = useContent(item.id, true);
  const captions = useCaptions(item.id);
  const [said, setSaid] = useState('');
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
  const track = captions !== undefined && <Captions address={captions} onSaid={setSaid} />;
  if (isFilm)
    return (
      <video class="large" autoPlay muted {...media}>
        {track}
      </video>
    );
  // Browsers show the captions of films alone.
  return (
    <div class="large">
      <audio {...media}>{track}</audio>
      <p class="said">{said}</p>
    </div>
  );
}

/** A player's captions. @param onSaid gets the words of each moment */
function Captions({ address, onSaid }: { address: string; onSaid: (words: string) => void }) {
  const place = useRef<HTMLTrackElement>(null);
  useEffect(() => {
    const { track } = place.current ?? {};
    if (!track) return;
    const say = () =>
      onSaid(
        Array.from(track.activeCues ?? [], (cue) => (cue as VTTCue).getCueAsHTML().textContent).join(' '),
      );
    track.addEventListener('cuechange', say);
    return () => track.removeEventListener('cuechange', say);
  }, [onSaid]);
  return <track ref={place} kind="captions" label="What is said" src={address} default />;
}
