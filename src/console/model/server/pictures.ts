import type { PreviewPart } from '@farthing/client';
import type { OpenWorkspace } from '../state/session.ts';
import { workspaceOf } from './client.ts';

/** Concurrent requests for previews: the server makes them one at a time. */
const AT_ONCE = 4;
/** Previews kept in memory; the oldest goes first. */
const KEPT_MAX = 1500;

export interface Picture {
  readonly blob: Blob;
  /** A blob address, freed when the picture is forgotten. */
  readonly address: string;
}

/** A part of an item, such as a hit. */
export interface PictureOf {
  readonly item: { readonly id: string };
  readonly locator: PreviewPart;
}

interface Request {
  readonly picture: Promise<Picture | undefined>;
  /** Components that wait for it; it is not requested without any. */
  wanted: number;
}

const kept = new Map<string, Request>();
const waiting: (() => void)[] = [];
let running = 0;

/**
 * The preview of a page or moment; undefined without one. Requested once.
 * @param signal aborted when it is no longer in view: a request that has not begun is dropped
 */
export function previewOf(
  opened: OpenWorkspace,
  { item, locator: { page, time_s } }: PictureOf,
  signal?: AbortSignal,
): Promise<Picture | undefined> {
  const key = `${item.id}/${page ?? 0}/${time_s ?? 0}`;
  let request = kept.get(key);
  if (!request) {
    const made: Request = {
      wanted: 0,
      picture: inTurn(async () => {
        if (made.wanted === 0) {
          kept.delete(key);
          return undefined;
        }
        const blob = await workspaceOf(opened)
          .preview(item.id, { page, time_s })
          .catch(() => undefined);
        return blob && { blob, address: URL.createObjectURL(blob) };
      }),
    };
    request = made;
    kept.set(key, made);
    if (kept.size > KEPT_MAX) forget(kept.keys().next().value!);
  }
  const shared = request;
  shared.wanted += 1;
  signal?.addEventListener('abort', () => {
    shared.wanted -= 1;
  });
  return shared.picture;
}

/** Frees every preview: the workspace is gone. */
export function forgetPreviews(): void {
  for (const key of [...kept.keys()]) forget(key);
}

function forget(key: string): void {
  void kept.get(key)?.picture.then((picture) => picture && URL.revokeObjectURL(picture.address));
  kept.delete(key);
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  // At least one turn later, so that this request is counted.
  await undefined;
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
