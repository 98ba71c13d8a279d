import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { readConfig } from '../../settings/config.ts';
import { settingsPage } from '../../settings/settings-page.ts';
import type { DisposalAnswer } from '../../workspace/life/disposal.ts';
import { openReceiptSigner, readPublishedKeys, verifyReceipt } from '../../workspace/life/receipt.ts';
import type { PublicWorkspace } from '../../workspace/views/public-record.ts';
import type { WorkspacePage } from '../../workspace/views/views.ts';
import { backUpStopped, restore, whileStopped } from '../backup/stopped-backup.ts';
import { askServer } from '../running/operator-socket.ts';
import { ledgerCommand } from './ledger.ts';
import { MODELS_HELP } from './models-help.ts';

const HELP = `farthing workspaces list               every workspace: id, state, seconds left, spend, end
farthing workspaces show ID            one workspace, as JSON
farthing workspaces dispose ID         destroys a workspace; prints its signed receipt
farthing receipt verify FILE|- [KEYS]  checks a disposal receipt (the answer of a DELETE, or its "receipt" alone)
                                       against KEYS, saved from /.well-known/jwks.json, or the keys in DATA_DIR
farthing keys rotate                   a new key signs receipts from now on; the former ones stay published
farthing backup DIR                    copies DATA_DIR to a new folder, while the server runs or not
farthing restore DIR                   makes DATA_DIR, which must not exist, from a backup
farthing settings                      every setting, its default and what it is for, in Markdown
farthing ledger export [--format csv|jsonl] [--since TIME]  the books of a stopped server; totals on stderr
farthing search --help                 the commands of an agent: search, ingest, workspace, wallet, mcp, sign, completion
${MODELS_HELP}
farthing doctor [--json]               looks at the host, the models and the settings; exit code 1 when there is a problem

Settings come from the environment or farthing.json, as for the server: DATA_DIR says which server is meant.`;

type Command = (data: string, ...values: string[]) => Promise<void>;

/** By the words before the values, and how many values must and may follow. */
const COMMANDS: Readonly<Record<string, { run: Command; least: number; most: number }>> = {
  'workspaces list': { run: list, least: 0, most: 0 },
  'workspaces show': { run: show, least: 1, most: 1 },
  'workspaces dispose': { run: dispose, least: 1, most: 1 },
  'receipt verify': { run: verify, least: 1, most: 2 },
  'keys rotate': { run: rotateKeys, least: 0, most: 0 },
  backup: { run: backUpTo, least: 1, most: 1 },
  restore: { run: restoreFrom, least: 1, most: 1 },
};

async function list(data: string): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${after}`;
    const page: WorkspacePage = await askServer(data, 'GET', `/workspaces${query}`);
    for (const { id, state, ttl_seconds_left, spend_usd, expires_at } of page.workspaces)
      console.log(
        [id, state.padEnd(9), String(ttl_seconds_left).padStart(7), spend_usd.padStart(9), expires_at].join(
          '  ',
        ),
      );
    after = page.next;
  }
}

async function show(data: string, id: string): Promise<void> {
  console.log(JSON.stringify(await askServer<PublicWorkspace>(data, 'GET', pathOf(id)), null, 2));
}

async function dispose(data: string, id: string): Promise<void> {
  const { receipt } = await askServer<DisposalAnswer>(data, 'DELETE', pathOf(id));
  console.log(receipt);
}

const pathOf = (id: string) => `/workspaces/${encodeURIComponent(id)}`;

async function verify(data: string, file: string, keysFile?: string): Promise<void> {
  const content = (file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')).trim();
  const keys = keysFile
    ? JSON.parse(await readFile(keysFile, 'utf8'))
    : await readPublishedKeys(join(data, 'keys'));
  if (!keys) throw new Error(`There are no keys in ${data}: name a file saved from /.well-known/jwks.json.`);
  const check = await verifyReceipt(content.startsWith('{') ? receiptOf(content) : content, keys);
  if (!check.valid) throw new Error(`The receipt is not valid: ${check.reason}`);
  console.log(JSON.stringify(check.claims, null, 2));
  console.error(`The receipt is valid; it was signed with the key ${check.kid}.`);
}

/** Of a running server, which alone may write its keys; or of the folder of one that is stopped. */
async function rotateKeys(data: string): Promise<void> {
  const rotated = await whileStopped(data, async () =>
    (await openReceiptSigner(join(data, 'keys'))).rotate(),
  );
  const kid = rotated ?? (await askServer<{ kid: string }>(data, 'POST', '/keys')).kid;
  console.log(kid);
}

function receiptOf(answer: string): string {
  const { receipt } = JSON.parse(answer) as { receipt?: unknown };
  if (typeof receipt !== 'string') throw new Error('There is no "receipt" in this JSON object.');
  return receipt;
}

async function backUpTo(data: string, folder: string): Promise<void> {
  const target = resolve(folder);
  if (!(await backUpStopped(data, target)))
    await askServer(data, 'POST', `/backup?folder=${encodeURIComponent(target)}`);
  console.log(`${data} is copied to ${resolve(folder)}.`);
}

async function restoreFrom(data: string, folder: string): Promise<void> {
  await restore(resolve(folder), data);
  console.log(`${data} is restored from ${resolve(folder)}.`);
}

function ledger(words: readonly string[]): Promise<number> {
  return ledgerCommand(words, {
    environment: process.env,
    write: (text) => void process.stdout.write(text),
    explain: (line) => console.error(line),
  });
}

async function doctor(words: readonly string[]): Promise<number> {
  const { doctorCommand } = await import('../doctor/doctor.ts');
  return doctorCommand(words, process.env, (line) => console.log(line));
}

async function models(words: readonly string[]): Promise<number> {
  const { modelsCommand, terminalOutput } = await import('./models.ts');
  return modelsCommand(words, readConfig(process.env), terminalOutput());
}

async function main(words: readonly string[]): Promise<number> {
  if (words[0] === 'settings' && words.length === 1) {
    process.stdout.write(settingsPage());
    return 0;
  }
  if (words[0] === 'ledger') return ledger(words.slice(1));
  if (words[0] === 'models') return models(words.slice(1));
  if (words[0] === 'doctor') return doctor(words.slice(1));
  for (const length of [2, 1]) {
    const command = COMMANDS[words.slice(0, length).join(' ')];
    const values = words.slice(length);
    if (!command || values.length < command.least || values.length > command.most) continue;
    await command.run(resolve(readConfig(process.env).DATA_DIR), ...values);
    return 0;
  }
  const asked = words.length === 0 || ['help', '--help', '-h'].includes(words[0]!);
  console[asked ? 'log' : 'error'](HELP);
  return asked ? 0 : 2;
}

// Whoever reads the output may stop early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  return 1;
});
