import type { Test } from 'tap';
import { EXTRACT_LIMITS } from '../../../src/protocol/document.ts';
import { PooledReader, type PooledReaderOptions } from '../../../src/readers/process/pooled-reader.ts';
import { children } from './children.ts';
import '../../rig/teardown-order.ts';

/**
 * A reader of pictures of queries, which opens sooner than the others; the test's end closes it. Linux only.
 * @returns it, and the processes that have started since and have not ended
 */
export function smallReader(
  t: Test,
  {
    niceness = 0,
    ...options
  }: Pick<PooledReaderOptions, 'idleMsMax' | 'startSecondsMax'> & { readonly niceness?: number } = {},
): { readonly reader: PooledReader; readonly own: () => number[] } {
  const before = new Set(children());
  const reader = new PooledReader({
    name: 'small',
    log: () => undefined,
    ...options,
    settings: {
      program: 'queries',
      languages: [],
      pictureSpec: undefined,
      limits: EXTRACT_LIMITS,
      scratch: t.testdir({}),
      niceness,
    },
  });
  t.teardown(() => reader.close());
  return { reader, own: () => children().filter((pid) => !before.has(pid)) };
}
