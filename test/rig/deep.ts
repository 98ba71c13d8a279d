/** `make test` shows every kind of claim once; `make test-deep` runs the files that import this one at full length. */
const DEEP = process.env.DEEP === '1';

/** A count, a list or a time: the first in `make test`, the second in `make test-deep`. */
export function deep<T>(quick: T, full: T): T {
  return DEEP ? full : quick;
}

/** The `skip` of a test that `make test` leaves out, because another one makes the same kind of claim in less time. */
export const onlyDeep: string | false = DEEP ? false : 'runs in `make test-deep`';
