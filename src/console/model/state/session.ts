import type {
  DisposalAnswer,
  HistoryAnswer,
  PaymentAccount,
  ReadyAnswer,
  SearchAnswer,
  UsageAnswer,
} from '@farthing/client';
import { type Asked, EMPTY_FORM, type Filter } from './asked.ts';
import type { FileEntry } from './entry.ts';
import { Store } from './store.ts';

/** The payer. */
export interface Wallet {
  readonly kind: 'play' | 'browser';
  readonly name: string;
  readonly address: string;
  readonly account: PaymentAccount;
}

/** The workspace that is open, kept over a reload: it was paid for. */
export interface OpenWorkspace {
  readonly id: string;
  readonly token: string;
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
  /** `performance.now()` at which the rented time ends. */
  readonly endsAt?: number;
  /** Newest first. */
  readonly files: readonly FileEntry[];
  /** Items that the workspace has and `files` does not list: there are too many. */
  readonly filesUnlisted: number;
  /** Dropped before a workspace was open. */
  readonly filesWaiting: readonly File[];
  /** The form of the search. */
  readonly form: Asked;
  readonly searching: boolean;
  readonly search?: SearchState;
  /** Why the last search has no answer. */
  readonly searchFault?: string;
  readonly filter: Filter;
  /** Past searches, newest first. */
  readonly past: HistoryAnswer['entries'];
  /** An expired workspace, while its receipt is available. */
  readonly ended?: OpenWorkspace;
  readonly disposal?: DisposalAnswer;
  /** Why the receipt could not be verified; absent when it was. */
  readonly doubt?: string;
  /** The running action, which disables the buttons. */
  readonly busy?: string;
  readonly fault?: string;
  /** Announced to screen readers. */
  readonly said: string;
}

/** State of one workspace, cleared with it. */
export const NO_WORKSPACE = {
  opened: undefined,
  usage: undefined,
  endsAt: undefined,
  files: [],
  filesUnlisted: 0,
  form: EMPTY_FORM,
  searching: false,
  search: undefined,
  searchFault: undefined,
  filter: {},
  past: [],
} satisfies Partial<Session>;

/** The state of the whole page: components draw it, actions change it. */
export const session = new Store<Session>({ ...NO_WORKSPACE, filesWaiting: [], said: '' });
