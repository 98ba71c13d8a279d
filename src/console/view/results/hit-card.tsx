import { memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Hit } from '../../../client/index.ts';
import { formatClock, formatShare } from '../../model/format.ts';
import { previewOf } from '../../model/pictures.ts';
import { moreLike } from '../../model/search/search.ts';
import { session } from '../../model/session.ts';
import { LikeIcon } from '../controls/icons.tsx';
import { BoxMark } from '../hit/box-mark.tsx';
import { FamilyTag } from './family.tsx';
import { Snippet } from './snippet.tsx';

interface HitCardProps {
  readonly hit: Hit;
  readonly words: RegExp | undefined;
  readonly onOpen: (hit: Hit) => void;
}

/** One hit: picture or snippet, place, and confidence. */
export const HitCard = memo(({ hit, words, onOpen }: HitCardProps) => {
  const { item, family, confidence, locator, snippet } = hit;
  const title = item.title ?? item.name;
  return (
    <li class="hit" data-family={family}>
      <button type="button" class="face" onClick={() => onOpen(hit)}>
        <span class="unseen">
          Open {title}, {placeOf(hit)}
        </span>
        {hasPicture(hit) ? (
          <Thumbnail hit={hit} words={words} />
        ) : (
          <Snippet text={snippet ?? item.name} words={words} />
        )}
      </button>
      <div class="under">
        <h3 title={item.name}>{title}</h3>
        <p class="place">{placeOf(hit)}</p>
        <p class="sureness">
          <FamilyTag family={family} />
          <meter min={0} max={1} value={confidence} aria-label="Confidence" />
          <span class="figure" aria-hidden="true">
            {formatShare(confidence)}
          </span>
        </p>
        {hasPicture(hit) && snippet !== undefined && <Snippet text={snippet} words={words} />}
        <button
          type="button"
          class="like"
          aria-label={`More like this: ${title}`}
          onClick={() => void moreLike(hit)}
        >
          <LikeIcon /> More like this
        </button>
      </div>
      {locator.heading !== undefined && <span class="unseen">{locator.heading}</span>}
    </li>
  );
});

export function hasPicture({ item }: Hit): boolean {
  return !item.media_type.startsWith('text/') && !item.media_type.startsWith('audio/');
}

/** Where in the file, in words. */
export function placeOf({ item, locator, segments }: Hit): string {
  const folded = segments > 1 ? ` · ${segments} passages` : '';
  if (locator.time_s !== undefined) return `at ${formatClock(locator.time_s)}${folded}`;
  if (locator.page !== undefined)
    return `page ${locator.page}${item.pages === undefined ? '' : ` of ${item.pages}`}${folded}`;
  if (item.width !== undefined && item.height !== undefined) return `${item.width} × ${item.height} pixels`;
  return `${locator.heading ?? item.name}${folded}`;
}

/** Loaded when it is near the viewport. */
function Thumbnail({ hit, words }: Pick<HitCardProps, 'hit' | 'words'>) {
  const place = useRef<HTMLSpanElement>(null);
  const [address, setAddress] = useState<string | null>();
  const { item, locator } = hit;
  useEffect(() => {
    const { opened } = session.value;
    if (!place.current || !opened) return;
    let gone = false;
    const load = async () => {
      const picture = await previewOf(opened, hit);
      if (!gone) setAddress(picture?.address ?? null);
    };
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        watch.disconnect();
        void load();
      },
      { rootMargin: '300px' },
    );
    watch.observe(place.current);
    return () => {
      gone = true;
      watch.disconnect();
    };
  }, [hit]);
  if (address === null && hit.snippet !== undefined) return <Snippet text={hit.snippet} words={words} />;
  return (
    <span
      class="thumbnail"
      ref={place}
      data-state={address === undefined ? 'loading' : address ? 'shown' : 'none'}
    >
      {address && (
        <span class="framed" data-page={locator.page !== undefined && !locator.box}>
          <img src={address} alt="" />
          <BoxMark box={locator.box} />
        </span>
      )}
      {address === null && <span class="quiet">no preview</span>}
      {item.duration_s !== undefined && locator.time_s !== undefined && (
        <span class="moment">{formatClock(locator.time_s)}</span>
      )}
    </span>
  );
}
