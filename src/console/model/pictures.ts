import type { Hit } from '../../client/index.ts';
import { workspaceOf } from './client.ts';
import type { OpenWorkspace } from './session.ts';

/** Concurrent requests for previews: the server makes them one at a time. */
const AT_ONCE = 4;
/** Previews kept in memory; the oldest goes first. */
const KEPT_MAX = 1500;

export interface Picture {
  readonly blob: Blob;
  /** A blob address, freed when the picture is forgotten. */
  readonly address: string;
}

const kept = new Map<string, Promise<Picture | undefined>>();
const waiting: (() => void)[] = [];
let running = 0;

/** The preview of a hit's page or moment; undefined without one. Requested once. */
export function previewOf(opened: OpenWorkspace, { item, locator }: Hit): Promise<Picture | undefined> {
  const key = `${item.id}/${locator.page ?? 0}/${locator.time_s ?? 0}`;
  const known = kept.get(key);
  if (known) return known;
  const made = inTurn(async () => {
    const blob = await workspaceOf(opened)
      .preview(item.id, locator)
      .catch(() => undefined);
    return blob && { blob, address: URL.createObjectURL(blob) };
  });
  kept.set(key, made);
  if (kept.size > KEPT_MAX) forget(kept.keys().next().value!);
  return made;
}

/** Frees every preview: the workspace is gone. */
export function forgetPreviews(): void {
  for (const key of [...kept.keys()]) forget(key);
}

function forget(key: string): void {
  void kept.get(key)?.then((picture) => picture && URL.revokeObjectURL(picture.address));
  kept.delete(key);
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
