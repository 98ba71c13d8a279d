import type { Box, Hit } from '@farthing/client';
import { useEffect, useState } from 'preact/hooks';
import { type PictureOf, previewOf } from '../../model/server/pictures.ts';
import { session } from '../../model/state/session.ts';
import { BackIcon, NextIcon } from '../controls/icons.tsx';
import { formatOf } from '../parts/place.ts';
import { StandIn } from '../parts/stand-in.tsx';
import { useContent } from './use-content.ts';

/** Pictures that every browser draws: the file itself is shown once it is here. */
const DRAWN = /^image\/(jpeg|png|webp|gif|bmp)$/;
const DRAWN_BYTES_MAX = 20_000_000;

/** The page or picture of a hit, small at first, with what was found boxed, and the pages beside it. */
export function PagePicture({ hit }: { hit: Hit }) {
  const { item, locator } = hit;
  const [page, setPage] = useState(locator.page);
  const small = usePreview({ item, locator: { page, time_s: locator.time_s } });
  const isDrawn =
    DRAWN.test(item.media_type) && item.bytes <= DRAWN_BYTES_MAX && locator.time_s === undefined;
  const { address: whole } = useContent(item.id, isDrawn);
  const address = whole ?? small;
  const { pages = 1 } = item;
  return (
    <div class="large" data-state={address === undefined ? 'loading' : 'shown'}>
      {address && (
        <span class="framed">
          <img src={address} alt={page === undefined ? item.name : `${item.name}, page ${page}`} />
          {page === locator.page && <BoxMark box={locator.box} />}
        </span>
      )}
      {address === undefined && <StandIn of={hit} word={formatOf(item)} />}
      {address === null && <p class="quiet">This page has no picture.</p>}
      {page !== undefined && pages > 1 && (
        <div class="pages">
          <button
            type="button"
            aria-label="Previous page"
            aria-disabled={page <= 1}
            onClick={() => setPage(page - 1)}
          >
            <BackIcon /> Previous
          </button>
          <span class="figure">
            Page {page} of {pages}
          </span>
          <button
            type="button"
            aria-label="Next page"
            aria-disabled={page >= pages}
            onClick={() => setPage(page + 1)}
          >
            Next <NextIcon />
          </button>
        </div>
      )}
    </div>
  );
}

/** The preview's address; undefined while it is awaited, null when there is none. */
function usePreview({ item, locator: { page, time_s } }: PictureOf): string | null | undefined {
  const [address, setAddress] = useState<string | null>();
  useEffect(() => {
    const { opened } = session.value;
    if (!opened) return;
    const leaving = new AbortController();
    setAddress(undefined);
    void previewOf(opened, { item, locator: { page, time_s } }, leaving.signal).then((picture) => {
      if (!leaving.signal.aborted) setAddress(picture?.address ?? null);
    });
    return () => leaving.abort();
  }, [item.id, page, time_s]);
  return address;
}

/** The part of a page that was found, drawn over its picture. */
function BoxMark({ box }: { box: Box | undefined }) {
  if (!box) return null;
  const percent = (share: number) => `${Math.min(1, Math.max(0, share)) * 100}%`;
  const { x, y, width, height } = box;
  const style = { left: percent(x), top: percent(y), width: percent(width), height: percent(height) };
  return <span class="box" style={style} />;
}
