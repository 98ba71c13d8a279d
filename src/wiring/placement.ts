import type { Books } from './books.ts';

/** Which books are at this server. A server alone has one set of books, from its start to its stop. */
export interface Placement {
  /** They answer requests that lead to no books. */
  readonly front: Books;
  /** Those that are here now, in order. */
  readonly all: readonly Books[];
  /** The books that an id leads to: a Tenant's or a job's. @throws not_found where another server has them */
  of(id: string): Books;
  /** For how many milliseconds books have lacked a place that outlives this server for what they wrote; 0 when they have one. */
  lagMs(): number;
  /** How this server's models differ from those of the servers beside it: it gets no books. Undefined where they are the same. */
  readonly modelsDiffer?: string | undefined;
  /** Runs work while no books change others. */
  apart(work: () => Promise<void>): Promise<void>;
  /** @throws FarthingError where some books are at another server: a backup would lack them */
  mustHaveAll(): void;
  /** Called once a second. */
  sweep(): Promise<void>;
  /** Called once requests may come. @param warm does what a start leaves for later */
  start(warm: () => Promise<void>): Promise<void>;
  /** Gives all books to other servers, where there are some. Requests may still come. */
  leave(): Promise<void>;
  /** Called once all books are closed. */
  close(): Promise<void>;
}

/** The placement of a server alone. */
export function placedHere(books: Books): Placement {
  return {
    front: books,
    all: [books],
    of: () => books,
    lagMs: () => 0,
    apart: (work) => work(),
    mustHaveAll: () => undefined,
    sweep: async () => undefined,
    start: async () => undefined,
    leave: async () => undefined,
    close: async () => undefined,
  };
}
