import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import type { SegmentInput } from '../../../src/engine/shard/shard.ts';
import { openTenants, type Tenants } from '../../../src/engine/shard/tenants.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';
import type { ItemId } from '../../../src/protocol/id.ts';
import type { Item } from '../../../src/protocol/schema/items.ts';

export const SPACES: readonly SpaceSpec[] = [
  { name: 'text_semantic', dimensions: 8, modelSha256: 'ab'.repeat(32) },
  { name: 'visual_picture', dimensions: 4, modelSha256: 'cd'.repeat(32) },
];

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function itemOf(id: string, change: Partial<Item> = {}): Item {
  return {
    id: id as ItemId,
    name: `${id}.txt`,
    media_type: 'text/plain',
    bytes: 100,
    sha256: sha256(id),
    state: 'searchable',
    families: ['text_semantic', 'raw'],
    segments: 1,
    created_at: '2026-11-21T00:00:00.000Z',
    expires_at: null,
    ...change,
  };
}

/** A unit vector between two axes of the `text_semantic` space. */
export function towards(angle: number): Float32Array {
  const vector = new Float32Array(8);
  vector[0] = Math.cos(angle);
  vector[1] = Math.sin(angle);
  return vector;
}

export function passage(
  item: string,
  text: string,
  change: Partial<SegmentInput> & { place?: number } = {},
): SegmentInput {
  const { place = 0, ...rest } = change;
  return {
    record: { item, locator: { page: 1 }, place, text },
    words: text,
    vectors: { text_semantic: towards(0) },
    ...rest,
  };
}

/** Closed when the test ends. */
export function openFor(t: Pick<Test, 'testdir' | 'teardown'>, openShardsMax = 16, spaces = SPACES): Tenants {
  const tenants = open(t.testdir(), openShardsMax, spaces);
  t.teardown(() => tenants.close());
  return tenants;
}

export function open(folder: string, openShardsMax = 16, spaces = SPACES): Tenants {
  return openTenants({ folder, spaces, openShardsMax });
}

/** As `open`; an index has graphs from a few rows on. */
export function openWithGraphs(folder: string): Tenants {
  return openTenants({ folder, spaces: SPACES, openShardsMax: 16, sizes: { graphRowsMin: 30 } });
}
