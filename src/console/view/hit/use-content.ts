import { useEffect, useState } from 'preact/hooks';
import { captionsOf, contentOf } from '../../model/files/content.ts';
import { faultOf } from '../../model/server/attempt.ts';

export interface Content {
  readonly blob?: Blob;
  /** A blob address, freed with the component. */
  readonly address?: string;
  readonly fault?: string;
}

/** An item's file, where it is wanted. */
export function useContent(item: string, isWanted: boolean): Content {
  return useLoaded(contentOf, item, isWanted);
}

/** Address of an item's captions. A player without them plays all the same. */
export function useCaptions(item: string): string | undefined {
  return useLoaded(captionsOf, item, true).address;
}

function useLoaded(
  loadFrom: (item: string, signal: AbortSignal) => Promise<Blob>,
  item: string,
  isWanted: boolean,
): Content {
  const [content, setContent] = useState<Content>({});
  useEffect(() => {
    if (!isWanted) return;
    const leaving = new AbortController();
    let address: string | undefined;
    const load = async () => {
      const blob = await loadFrom(item, leaving.signal);
      if (leaving.signal.aborted) return;
      address = URL.createObjectURL(blob);
      setContent({ blob, address });
    };
    load().catch((error: unknown) => {
      if (!leaving.signal.aborted) setContent({ fault: faultOf(error) });
    });
    return () => {
      leaving.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [loadFrom, item, isWanted]);
  return content;
}
