import { parseArgs } from 'node:util';
import { nearest } from '../../domain/nearest.ts';
import { definitionList, helpColumns } from '../../domain/wording/definition-list.ts';
import { fileFault } from '../../domain/wording/file-fault.ts';
import { wrap } from '../../domain/wording/text.ts';
import { settingsPage } from '../../settings/settings-page.ts';
import { type CommandIo, EXIT, UsageError } from '../io.ts';

interface Call {
  /** Positional words; as many as the command takes. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

interface Command {
  /** What follows the command's name. Absent: nothing. */
  readonly usage?: string;
  readonly about: string;
  /** Fewest and most positional words. Absent: none. */
  readonly words?: readonly [least: number, most: number];
  readonly options?: Readonly<
    Record<string, { readonly type: 'string' | 'boolean'; readonly default?: string }>
  >;
  /** @returns the exit code */
  readonly run: (call: Call, io: CommandIo) => Promise<number>;
}

const ONE = [1, 1] as const;

/** The operator's commands by their names. Each loads its code when it runs. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'workspaces list': {
    about: 'Every workspace: id, state, seconds left, spend, end.',
    run: async (_call, io) => (await import('./workspaces.ts')).listWorkspaces(io),
  },
  'workspaces show': {
    usage: 'ID',
    about: 'One workspace as JSON.',
    words: ONE,
    run: async ({ words }, io) => (await import('./workspaces.ts')).showWorkspace(words[0]!, io),
  },
  'workspaces dispose': {
    usage: 'ID',
    about: 'Destroys a workspace and prints its signed receipt.',
    words: ONE,
    run: async ({ words }, io) => (await import('./workspaces.ts')).disposeWorkspace(words[0]!, io),
  },
  'receipt verify': {
    usage: 'FILE|- [KEYS]',
    about: 'Checks a receipt with KEYS, a saved /.well-known/jwks.json, or with the keys of the data folder.',
    words: [1, 2],
    run: async ({ words }, io) => (await import('./receipts.ts')).verifyReceiptFile(words[0]!, words[1], io),
  },
  'keys rotate': {
    about: 'Signs receipts with a new key from now on; previous keys stay published.',
    run: async (_call, io) => (await import('./receipts.ts')).rotateKeys(io),
  },
  backup: {
    usage: 'DIR',
    about: 'Copies the data folder to a new folder, with or without a running server.',
    words: ONE,
    run: async ({ words }, io) => (await import('./backups.ts')).backUp(words[0]!, io),
  },
  restore: {
    usage: 'DIR',
    about: 'Makes the data folder, which must not exist, from a backup.',
    words: ONE,
    run: async ({ words }, io) => (await import('./backups.ts')).restoreBackup(words[0]!, io),
  },
  'cluster import': {
    about: 'Brings the folder of a stopped server into FARTHING_CLUSTER and FARTHING_OBJECTS.',
    run: async (_call, io) => (await import('../../cluster/operate/import-folder.ts')).importFolder(io),
  },
  'cluster status': {
    about: 'The servers of FARTHING_CLUSTER, and what each of them has.',
    run: async (_call, io) => (await import('../../cluster/operate/nodes.ts')).showCluster(io),
  },
  'cluster drain': {
    usage: 'ID [--undo]',
    about: 'Has a server give what it has to the others, before it is stopped.',
    words: ONE,
    options: { undo: { type: 'boolean' } },
    run: async ({ words, options }, io) =>
      (await import('../../cluster/operate/nodes.ts')).drainNode(words[0]!, options.undo === true, io),
  },
  'cluster forget': {
    usage: 'ID',
    about: 'Forgets a server that will not come back.',
    words: ONE,
    run: async ({ words }, io) => (await import('../../cluster/operate/nodes.ts')).forgetNode(words[0]!, io),
  },
  'cluster finish-upgrade': {
    about: 'Raises the format of the rows of FARTHING_CLUSTER to the highest that all its servers know.',
    run: async (_call, io) => (await import('../../cluster/operate/nodes.ts')).finishUpgrade(io),
  },
  'cluster forget-models': {
    about: 'Has the next server that starts decide on the models of FARTHING_CLUSTER.',
    run: async (_call, io) => (await import('../../cluster/operate/nodes.ts')).forgetClusterModels(io),
  },
  'cluster books': {
    usage: 'DIR',
    about: 'Copies the books of FARTHING_CLUSTER, while its servers run, to a new folder: for ledger export.',
    words: ONE,
    run: async ({ words }, io) =>
      (await import('../../cluster/operate/copy-books.ts')).copyClusterBooks(words[0]!, io),
  },
  'cluster backup': {
    usage: 'DIR',
    about:
      'Copies books, files and indexes of FARTHING_CLUSTER, with or without running servers, to a new folder for one server.',
    words: ONE,
    run: async ({ words }, io) =>
      (await import('../../cluster/operate/copy-books.ts')).backUpClusterTo(words[0]!, io),
  },
  'ledger export': {
    usage: '[--format jsonl|csv] [--since TIME]',
    about:
      'The ledger, of a running server too: one row a payment with its last state; totals on the standard error.',
    options: { format: { type: 'string', default: 'jsonl' }, since: { type: 'string' } },
    run: async ({ options: { format, since } }, io) =>
      (await import('./ledger.ts')).exportLedger({ format: String(format), since: since?.toString() }, io),
  },
  'prepaid list': {
    about:
      'Prepaid money in all, and each refund that was asked for: id, wallet, USD, when, transaction or `due`.',
    run: async (_call, io) => (await import('./refunds.ts')).listPrepaid(io),
  },
  'prepaid refunded': {
    usage: 'ID TRANSACTION',
    about:
      'Notes the transaction by which you sent a refund to its wallet, once a node (FARTHING_RPC_URL) shows it.',
    words: [2, 2],
    run: async ({ words }, io) => (await import('./refunds.ts')).notePrepaidRefund(words[0]!, words[1]!, io),
  },
  'ledger refunded': {
    usage: 'PAYER NONCE TRANSACTION',
    about:
      'Notes the transaction by which you sent a payment’s money back to its payer, once a node (FARTHING_RPC_URL) shows it.',
    words: [3, 3],
    run: async ({ words }, io) =>
      (await import('./refunds.ts')).notePaymentRefund({ payer: words[0]!, nonce: words[1]! }, words[2]!, io),
  },
  'ledger reconcile': {
    usage: '[--since TIME]',
    about:
      'Looks for each payment of the ledger on the chain (FARTHING_RPC_URL), and for transfers to FARTHING_PAY_TO that it does not know; exit code 1 when a row is not as the chain has it.',
    options: { since: { type: 'string' } },
    run: async ({ options: { since } }, io) =>
      (await import('./ledger-reconcile.ts')).reconcileLedger(since?.toString(), io),
  },
  'models list': {
    about: 'Every model of the manifest, and what of it is installed.',
    run: async (_call, io) => (await import('./models.ts')).listModels(io),
  },
  'models pull': {
    usage: 'NAME [--use] [--offline]',
    about:
      'Downloads the files of a model, or makes them of pinned packages, and checks them. --use: makes it serve its family, too.',
    words: ONE,
    options: { use: { type: 'boolean' }, offline: { type: 'boolean' } },
    run: async ({ words, options }, io) => {
      const how = { offline: options.offline === true, use: options.use === true };
      return (await import('./models.ts')).pullModel(words[0]!, how, io);
    },
  },
  'models verify': {
    about: 'Hashes every file; exit code 1 when a model in use is wrong.',
    run: async (_call, io) => (await import('./models.ts')).verifyModels(io),
  },
  'models use': {
    usage: 'NAME',
    about: 'Makes a model serve its family from the next start on.',
    words: ONE,
    run: async ({ words }, io) => (await import('./models.ts')).useModel(words[0]!, io),
  },
  settings: {
    about: 'Every setting, its default and what it is for, in Markdown.',
    run: async (_call, io) => {
      io.write(settingsPage());
      return EXIT.done;
    },
  },
  doctor: {
    usage: '[--pay] [--json]',
    about:
      'Examines host, models and settings, and whether sales work; exit code 1 when there is a problem. --pay: also buys the cheapest thing from the running server, with your wallet, and shows the transfer on the chain.',
    options: { json: { type: 'boolean' }, pay: { type: 'boolean' } },
    run: async ({ options }, io) =>
      (await import('./doctor.ts')).runDoctor(
        { json: options.json === true, pays: options.pay === true },
        io,
      ),
  },
};

const HELP_OPTIONS = new Set(['--help', '-h']);

/** Runs `farthing admin WORDS…`. @returns its exit code; faults are explained, never thrown */
export async function runAdminCommand(words: readonly string[], io: CommandIo): Promise<number> {
  const wantsHelp = words.length === 0 || words[0] === 'help' || words.some((word) => HELP_OPTIONS.has(word));
  const asked = wantsHelp ? words.filter((word) => word !== 'help' && !word.startsWith('-')) : words;
  const name = [asked.slice(0, 2).join(' '), asked[0]].find((known) => Object.hasOwn(COMMANDS, known ?? ''));
  if (wantsHelp && (asked.length === 0 || name !== undefined || isGroup(asked[0]!))) {
    io.write(`${help(io.columns, name ?? asked[0])}\n`);
    return EXIT.done;
  }
  if (name === undefined) {
    io.explain(unknownCommand(asked));
    return EXIT.usage;
  }
  const command = COMMANDS[name]!;
  try {
    const call = callOf(command, words.slice(name.split(' ').length));
    return await command.run(call, io);
  } catch (error) {
    const message = fileFault(error) ?? (error as Error).message;
    const isUsage = error instanceof UsageError;
    io.explain(isUsage ? `${message}\n\nfarthing admin ${name} ${command.usage ?? ''}`.trimEnd() : message);
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

/** @throws UsageError */
function callOf({ options = {}, words: [least, most] = [0, 0] }: Command, args: readonly string[]): Call {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (positionals.length >= least && positionals.length <= most)
      return { words: positionals, options: values as Call['options'] };
  } catch (error) {
    // Node adds how to write what begins with a dash.
    throw new UsageError((error as Error).message.split('. ', 1)[0]!);
  }
  const wanted =
    least < most ? `${least} to ${most} words` : ['nothing', 'one word', 'two words', 'three words'][least];
  throw new UsageError(`This command takes ${wanted}.`);
}

/** One line with the nearest name. */
function unknownCommand(words: readonly string[]): string {
  const typed = words.slice(0, 2).join(' ');
  const names = Object.keys(COMMANDS);
  const group = names.map((name) => name.split(' ')[0]!);
  const near =
    nearest(typed, names) ?? names[group.indexOf(words[0]!)] ?? nearest(words[0]!, [...names, ...group]);
  const instead = near ? `Did you mean farthing admin ${near}?` : 'farthing admin --help lists them.';
  return `There is no command "farthing admin ${typed}". ${instead}`;
}

const isGroup = (word: string) => Object.keys(COMMANDS).some((name) => name.startsWith(`${word} `));

/** @param about a command or a group of them; absent: all */
function help(columns: number | undefined, about?: string): string {
  const shown = Object.entries(COMMANDS).filter(
    ([name]) => about === undefined || name === about || name.startsWith(`${about} `),
  );
  const rows = shown.map(
    ([name, { usage = '', about: what }]) => [`farthing admin ${name} ${usage}`.trimEnd(), what] as const,
  );
  const settings =
    'Settings come from the environment or farthing.json, as for the server: FARTHING_DATA_DIR says which server is meant.';
  return `${definitionList(rows, columns)}\n\n${wrap(settings, helpColumns(columns)).join('\n')}`;
}
