import type { Box, Hit } from '@farthing/client';
import { clockText } from '@farthing/protocol/figures';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type PictureOf, previewOf } from '../../model/server/pictures.ts';
import { session } from '../../model/state/session.ts';
import { watchView } from './in-view.ts';
import { formatOf } from './place.ts';
import { StandIn } from './stand-in.tsx';

interface ThumbnailProps {
  readonly of: PictureOf & Pick<Hit, 'item'>;
  readonly box?: Box;
  /** Shown in its corner. */
  readonly time?: number;
}

/** A small picture of a page or moment, requested while it is near the screen. Until it is loaded, an icon and the format are shown. */
export function Thumbnail({ of, box, time }: ThumbnailProps) {
  const place = useRef<HTMLSpanElement>(null);
  const address = usePreview(place, of);
  const isPage = of.locator.page !== undefined;
  return (
    <span
      class="thumbnail"
      ref={place}
      data-page={isPage}
      data-state={address === undefined ? 'loading' : address ? 'shown' : 'none'}
    >
      {address && (
        <span class="framed" style={box && zoomOn(box)}>
          <img src={address} alt="" decoding="async" />
        </span>
      )}
      {!address && <StandIn of={of} word={address === null ? 'no preview' : formatOf(of.item)} />}
      {time !== undefined && <span class="moment">{clockText(time)}</span>}
    </span>
  );
}

/** Magnification of a page: enough to see that it is text. */
const ZOOM_MIN = 1.6;
const ZOOM_MAX = 2.4;

/** Enlarges a page so that what was found fills the width, or its beginning does. Its last lines end where its place does. */
function zoomOn({ x, y, width }: Box) {
  const within = (start: string, room: string) => `max(${start}, min(0px, ${room} - 100%))`;
  return {
    width: `${100 * Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, 0.92 / width))}%`,
    transform: `translate(${within(`${-100 * x}% + 6px`, '100cqw')}, ${within(`${-100 * y}% + 8px`, '100cqh')})`,
  };
}

/** Undefined while it is awaited, null when there is none. */
function usePreview(place: { readonly current: Element | null }, of: PictureOf): string | null | undefined {
  const [address, setAddress] = useState<string | null>();
  const { item, locator } = of;
  useEffect(() => {
    const { opened } = session.value;
    if (!place.current || !opened) return;
    let seeing: AbortController | undefined;
    const load = async (signal: AbortSignal) => {
      const picture = await previewOf(opened, of, signal);
      if (signal.aborted) return;
      end();
      setAddress(picture?.address ?? null);
    };
    const end = watchView(place.current, (isInView) => {
      seeing?.abort();
      seeing = isInView ? new AbortController() : undefined;
      if (seeing) void load(seeing.signal);
    });
    return () => {
      seeing?.abort();
      end();
    };
  }, [item.id, locator.page, locator.time_s]);
  return address;
}
