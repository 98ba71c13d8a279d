import type { Books } from './books.ts';

/** Which books are at this server. A server alone has one set of books, from its start to its stop. */
export interface Placement {
  /** These answer requests that belong to no particular set of books. */
  readonly front: Books;
  /** Those that are here now, in order. */
  readonly all: readonly Books[];
  /** The books that an id leads to: a Tenant's or a job's. @throws not_found where another server has them */
  of(id: string): Books;
  /** Milliseconds for which writes have not been stored beyond this server, or for which it has not reached the others; 0: neither. */
  lagMs(): number;
  /** How this server's models differ from those of the cluster, which is why it gets no books. Undefined: they are the same. */
  readonly modelsDiffer?: string | undefined;
  /** Runs work while no effect crosses from one set of books to another. */
  apart(work: () => Promise<void>): Promise<void>;
  /** @throws FarthingError where some books are at another server: a backup would lack them */
  mustHaveAll(): void;
  /** Called once a second. */
  sweep(): Promise<void>;
  /** Called once requests may come. @param warm loads what the start has deferred */
  start(warm: () => Promise<void>): Promise<void>;
  /** Hands all books over to other servers, if there are any. Requests may still come. */
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
