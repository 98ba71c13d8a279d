import { join } from 'node:path';
import { answeredHere, type Forward } from '../http/access/forward.ts';
import type { Services } from '../http/access/services.ts';
import type { GaugeDescription } from '../metrics/gauges.ts';
import { forgetLog } from '../state/log-position.ts';
import { openStore } from '../state/store.ts';
import { type Books, type BooksOptions, wireBooks } from './books.ts';
import { type Placement, placedHere } from './placement.ts';
import type { ContentKeeper, ProcessOptions, Runtime } from './process.ts';

export interface TopologyOptions
  extends Pick<ProcessOptions, 'settings' | 'data' | 'bookFolders' | 'encoder' | 'log' | 'metrics'> {
  /** Called when another server has taken over a store in use: this process must not answer any more. @param event for the log */
  readonly onLost: (event: object) => void;
}

/**
 * Where the stores are, and which server answers for them. `alone` is for one server; the package `cluster` has the one for several.
 *
 *     Topology ─┬─ Books      one store with its services and Tenants        (books.ts)
 *               ├─ Placement  which stores are here                          (placement.ts)
 *               └─ Forward    routes a request to its store, here or elsewhere (server/http/access/forward.ts)
 */
export interface Topology {
  /** Keeps the Tenants' content beyond this disk; undefined: nothing does. */
  readonly keeper: ContentKeeper | undefined;
  /** To be called once. */
  place(runtime: Runtime, times: Pick<BooksOptions, 'monotonic'>): Placement;
  /** To be called after `place`. @param servicesOf returns the routes' services for a store */
  forward(servicesOf: (books: Books) => Services): Forward;
  /** Gauges of this topology alone. */
  readonly gauges: readonly GaugeDescription<undefined>[];
}

/** Opens the stores of several servers. @throws ConfigError */
export type OpenTopology = (options: TopologyOptions) => Promise<Topology>;

/** One server, with one store in its data folder. */
export async function alone({ data }: Pick<TopologyOptions, 'data'>): Promise<Topology> {
  const folder = join(data, 'state');
  const store = openStore(folder);
  await forgetLog(store, folder);
  let books: Books;
  return {
    keeper: undefined,
    place: (runtime, times) => {
      books = wireBooks({ runtime, folder: data, store, ...times });
      return placedHere(books);
    },
    forward: (servicesOf) => answeredHere(servicesOf(books)),
    gauges: [],
  };
}
