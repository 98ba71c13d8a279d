import { useEffect, useState } from 'preact/hooks';
import { faultOf } from '../../model/attempt.ts';
import { contentOf } from '../../model/files/content.ts';

export interface Content {
  readonly blob?: Blob;
  /** A blob address, freed with the component. */
  readonly address?: string;
  readonly fault?: string;
}

/** An item's file, where it is wanted. */
export function useContent(item: string, isWanted: boolean): Content {
  const [content, setContent] = useState<Content>({});
  useEffect(() => {
    if (!isWanted) return;
    const leaving = new AbortController();
    let address: string | undefined;
    const load = async () => {
      const blob = await contentOf(item, leaving.signal);
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
  }, [item, isWanted]);
  return content;
}
