import type {
  DisposalAnswer,
  Family,
  HistoryAnswer,
  IngestProgress,
  Item,
  ReadyAnswer,
  SearchAnswer,
  UsageAnswer,
} from '../../client/index.ts';
import { K_DEFAULT } from '../../domain/search.ts';
import type { Filter } from './search/results.ts';
import { Store } from './store.ts';
import type { Wallet } from './wallet/wallet.ts';

/** The workspace that is open, kept over a reload: it was paid for. */
export interface OpenWorkspace {
  readonly id: string;
  readonly token: string;
}

export type FileState = 'waiting' | IngestProgress['stage'] | Item['state'] | 'duplicate' | 'refused';

/** A file in the workspace, or on its way there. */
export interface FileEntry {
  /** The item's id, or a number of this page's until there is one. */
  readonly key: string;
  readonly name: string;
  readonly bytes: number;
  readonly state: FileState;
  /** 0..1 of the stage. */
  readonly progress: number;
  /** Once it is accepted. */
  readonly item?: string;
  /** Of a searchable one. */
  readonly segments?: number;
  /** Files inside an archive or mail. */
  readonly members?: number;
  readonly membersFailed?: number;
  /** Why it was refused or failed. */
  readonly why?: string;
  /** What was chosen, while this page has it: it can be sent again. */
  readonly source?: File;
}

/** A picture that is searched with. */
export interface QueryPicture {
  readonly blob: Blob;
  readonly name: string;
  /** A blob address for showing it. */
  readonly address: string;
  /** SHA-256 in hex; undefined where the browser computes none (no HTTPS). */
  readonly digest?: string;
}

/** What is searched for. */
export interface Asked {
  readonly query: string;
  readonly picture?: QueryPicture;
  /** None: all that apply. */
  readonly families: readonly Family[];
  readonly k: number;
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
  /** A workspace whose time is over, while its receipt can be had. */
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

export const EMPTY_FORM: Asked = { query: '', families: [], k: K_DEFAULT };

/** What belongs to one workspace, and goes with it. */
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
