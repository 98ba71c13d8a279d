import type { Books } from './books.ts';

/** The stores at this server. A server alone has one, from its start to its stop. */
export interface Placement {
  /** Answers requests that belong to no particular store. */
  readonly front: Books;
  /** The stores that are here now, in order. */
  readonly all: readonly Books[];
  /** The store that a Tenant's or a job's id belongs to. @throws not_found where another server has it */
  of(id: string): Books;
  /** Milliseconds for which writes have not been stored beyond this server, or for which it has not reached the others; 0: neither. */
  lagMs(): number;
  /** How this server's models differ from those of the cluster, which is why it gets no stores. Undefined: they are the same. */
  readonly modelsDiffer?: string | undefined;
  /** Runs work while no effect crosses from one store to another. */
  apart(work: () => Promise<void>): Promise<void>;
  /** @throws FarthingError where some stores are at another server: a backup would lack them */
  mustHaveAll(): void;
  /** Called once a second. */
  sweep(): Promise<void>;
  /** Called once requests may come. @param warm loads what the start has deferred */
  start(warm: () => Promise<void>): Promise<void>;
  /** Hands all stores over to other servers, if there are any. Requests may still come. */
  leave(): Promise<void>;
  /** Called once all stores are closed. */
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
