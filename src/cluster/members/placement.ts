import { hash } from 'node:crypto';

/** A node that can have slots. */
export interface Candidate {
  readonly id: string;
  /** Share of the slots in comparison with others; above 0. */
  readonly weight: number;
}

/** Hexadecimal digits of the digest that are used: 48 bits, exact in a number. */
const DIGITS = 12;
const RANGE = 16 ** DIGITS;

/**
 * The nodes in the order in which a slot belongs to them: weighted rendezvous hashing (Schindelhauer and Schomaker, 2005). All who know
 * the same nodes compute the same, and a node that comes or goes moves its own share alone.
 */
export function ranked(slot: number, nodes: readonly Candidate[]): string[] {
  return nodes
    .map(({ id, weight }) => ({ id, score: scoreOf(slot, id, weight) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

function scoreOf(slot: number, id: string, weight: number): number {
  const digits = Number.parseInt(hash('sha256', `${slot} ${id}`).slice(0, DIGITS), 16);
  // A number between 0 and 1, both excluded.
  return -weight / Math.log((digits + 0.5) / RANGE);
}
