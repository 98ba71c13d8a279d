/** Bounds of one run of a text model. */
export interface RunBounds {
  readonly rows: number;
  /** Tokens, padding included. */
  readonly tokens: number;
  /** Largest share of padding, 0..1. */
  readonly paddingShare: number;
  /** Widths that a run may have, ascending; absent: any. */
  readonly widths?: readonly number[];
}

export interface Run {
  readonly rows: Uint32Array;
  readonly width: number;
}

/**
 * Groups texts of similar length into runs, longest first, as many in each as the bounds allow. Every row is in exactly one
 * run; a single row is never refused.
 */
export function groupByLength(lengths: Uint32Array, bounds: RunBounds): Run[] {
  const order = Uint32Array.from(lengths.keys()).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const runs: Run[] = [];
  let start = 0;
  while (start < order.length) {
    const longest = Math.max(1, lengths[order[start]!]!);
    const width = bounds.widths?.find((candidate) => candidate >= longest) ?? longest;
    let end = start + 1;
    let tokens = longest;
    while (end < order.length && end - start < bounds.rows) {
      const rows = end - start + 1;
      const more = tokens + lengths[order[end]!]!;
      // Padding counts up to the run's longest row; beyond it, it is the price of a fixed width.
      if (rows * width > bounds.tokens || 1 - more / (rows * longest) > bounds.paddingShare) break;
      tokens = more;
      end += 1;
    }
    runs.push({ rows: order.slice(start, end), width });
    start = end;
  }
  return runs;
}
