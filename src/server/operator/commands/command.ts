import { UsageError } from '@farthing/cli/commands/command-set';
import { OPERATOR, type OperatorCall, type OperatorCommand } from '@farthing/cli/commands/operator';
import { askedOf, parseCall } from '@farthing/cli/commands/parse';
import { fileFault } from '@farthing/cli/wording/file-fault';
import { settingsPage } from '../../settings/settings-page.ts';
import { type CommandIo, EXIT } from '../io.ts';

/** The program of each command; its code is loaded when it runs. @returns the exit code */
const RUNS: {
  readonly [Name in OperatorCommand]: (call: OperatorCall<Name>, io: CommandIo) => Promise<number>;
} = {
  doctor: async ({ values }, io) =>
    (await import('./doctor.ts')).runDoctor({ json: values.json, pays: values.pay }, io),
  settings: async (_call, io) => {
    io.write(settingsPage());
    return EXIT.done;
  },
  'workspaces list': async (_call, io) => (await import('./workspaces.ts')).listWorkspaces(io),
  'workspaces show': async ({ words }, io) => (await import('./workspaces.ts')).showWorkspace(words[0]!, io),
  'workspaces dispose': async ({ words }, io) =>
    (await import('./workspaces.ts')).disposeWorkspace(words[0]!, io),
  'receipt verify': async ({ words }, io) =>
    (await import('./receipts.ts')).verifyReceiptFile(words[0]!, words[1], io),
  'keys create': async ({ words, values }, io) =>
    (await import('./house-keys.ts')).createKey(words[0]!, values, io),
  'keys list': async (_call, io) => (await import('./house-keys.ts')).listKeys(io),
  'keys revoke': async ({ words }, io) => (await import('./house-keys.ts')).revokeKey(words[0]!, io),
  'keys rotate': async (_call, io) => (await import('./receipts.ts')).rotateKeys(io),
  'ledger export': async ({ values: { format = 'jsonl', since } }, io) =>
    (await import('./ledger.ts')).exportLedger({ format, since }, io),
  'ledger reconcile': async ({ values }, io) =>
    (await import('./ledger-reconcile.ts')).reconcileLedger(values.since, io),
  'ledger refunded': async ({ words: [payer, nonce, transaction] }, io) =>
    (await import('./refunds.ts')).notePaymentRefund({ payer: payer!, nonce: nonce! }, transaction!, io),
  'prepaid list': async (_call, io) => (await import('./refunds.ts')).listPrepaid(io),
  'prepaid refunded': async ({ words }, io) =>
    (await import('./refunds.ts')).notePrepaidRefund(words[0]!, words[1]!, io),
  'money change': async (_call, io) => (await import('./money.ts')).changeMoney(io),
  backup: async ({ words }, io) => (await import('./backups.ts')).backUp(words[0]!, io),
  restore: async ({ words }, io) => (await import('./backups.ts')).restoreBackup(words[0]!, io),
  'models list': async (_call, io) => (await import('./models.ts')).listModels(io),
  'models pull': async ({ words, values }, io) =>
    (await import('./models.ts')).pullModel(words[0]!, values, io),
  'models verify': async (_call, io) => (await import('./models.ts')).verifyModels(io),
  'models use': async ({ words }, io) => (await import('./models.ts')).useModel(words[0]!, io),
  'cluster status': async (_call, io) => (await io.cluster()).showCluster(io),
  'cluster drain': async ({ words, values }, io) =>
    (await io.cluster()).drainNode(words[0]!, values.undo, io),
  'cluster forget': async ({ words }, io) => (await io.cluster()).forgetNode(words[0]!, io),
  'cluster import': async (_call, io) => (await io.cluster()).importFolder(io),
  'cluster books': async ({ words }, io) => (await io.cluster()).copyClusterBooks(words[0]!, io),
  'cluster backup': async ({ words }, io) => (await io.cluster()).backUpClusterTo(words[0]!, io),
  'cluster finish-upgrade': async (_call, io) => (await io.cluster()).finishUpgrade(io),
  'cluster forget-models': async (_call, io) => (await io.cluster()).forgetClusterModels(io),
};

/** Runs `farthing admin WORDS…`. @returns its exit code; faults are explained, never thrown */
export async function runAdminCommand(words: readonly string[], io: CommandIo): Promise<number> {
  try {
    const { help, name, args } = askedOf(OPERATOR, words, io.columns);
    if (help === undefined) return await run(name, args, io);
    io.write(help);
    return EXIT.done;
  } catch (error) {
    io.explain(fileFault(error) ?? (error as Error).message);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

function run<Name extends OperatorCommand>(
  name: Name,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  return RUNS[name](parseCall(OPERATOR, name, args), io);
}
