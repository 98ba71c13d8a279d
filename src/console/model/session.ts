import type {
  DisposalAnswer,
  IngestProgress,
  Item,
  ReadyAnswer,
  SearchAnswer,
  UsageAnswer,
} from '../../client/index.ts';
import { Store } from './store.ts';
import type { Wallet } from './wallet/wallet.ts';

/** The workspace that is open, kept over a reload: it was paid for. */
export interface OpenWorkspace {
  readonly id: string;
  readonly token: string;
}

export type FileState = 'waiting' | IngestProgress['stage'] | Item['state'] | 'duplicate' | 'refused';

export interface FileEntry {
  readonly key: number;
  readonly name: string;
  readonly bytes: number;
  readonly state: FileState;
  readonly progress: number;
  /** Of a searchable one. */
  readonly segments?: number;
  readonly why?: string;
}

/** A picture that is searched with. */
export interface QueryPicture {
  readonly blob: Blob;
  readonly name: string;
  readonly address: string;
}

export interface Asked {
  readonly query: string;
  readonly picture?: QueryPicture;
}

export interface SearchState {
  readonly asked: Asked;
  readonly answer: SearchAnswer;
  /** Milliseconds from sending to the answer read, as the page saw them. */
  readonly roundTripMs: number;
}

export interface Session {
  readonly facts?: ReadyAnswer;
  readonly wallet?: Wallet;
  readonly opened?: OpenWorkspace;
  readonly usage?: UsageAnswer;
  /** `performance.now()` at which the rented time is over. */
  readonly endsAt?: number;
  readonly files: readonly FileEntry[];
  readonly query: string;
  readonly picture?: QueryPicture;
  readonly searching: boolean;
  readonly search?: SearchState;
  readonly disposal?: DisposalAnswer;
  /** Why the receipt could not be verified; absent when it was. */
  readonly doubt?: string;
  /** The running action, which disables the buttons. */
  readonly busy?: string;
  readonly fault?: string;
  /** Announced to screen readers. */
  readonly said: string;
}

export const session = new Store<Session>({ files: [], query: '', searching: false, said: '' });

const OPENED = 'farthing.workspace';

/** The workspace of an earlier visit, if there is one. */
export function recallOpened(): OpenWorkspace | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(OPENED) ?? 'null') as Partial<OpenWorkspace> | null;
    return typeof kept?.id === 'string' && typeof kept.token === 'string'
      ? { id: kept.id, token: kept.token }
      : undefined;
  } catch {
    return undefined;
  }
}

export function keepOpened(opened: OpenWorkspace | undefined): void {
  if (opened) localStorage.setItem(OPENED, JSON.stringify(opened));
  else localStorage.removeItem(OPENED);
}
