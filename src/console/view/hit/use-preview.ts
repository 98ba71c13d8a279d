import { useEffect, useState } from 'preact/hooks';
import { type PictureOf, previewOf } from '../../model/pictures.ts';
import { session } from '../../model/session.ts';

/** The preview's address; undefined while it is awaited, null when there is none. */
export function usePreview({ item, locator: { page, time_s } }: PictureOf): string | null | undefined {
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
