import { VERSION } from '@farthing/protocol/version';
import { askedOf, parseCall } from './commands/parse.ts';
import { explainFailure } from './failure.ts';
import { EXIT, type Io } from './terminal/io.ts';
import { AGENT } from './words/help.ts';
import type { Call, CommandName } from './words/specs.ts';

/** Code of each command, loaded when it runs. @returns the exit code */
const RUNS: { readonly [Name in CommandName]: (call: Call<Name>, io: Io) => Promise<number> } = {
  search: async (call, io) => (await import('./search/search.ts')).searchCommand(call, io),
  ingest: async (call, io) => (await import('./ingest/ingest.ts')).ingestCommand(call, io),
  'workspace create': async (call, io) =>
    (await import('./workspace/workspace.ts')).workspaceCreate(call, io),
  'workspace list': async (call, io) => (await import('./workspace/workspace.ts')).workspaceList(call, io),
  'workspace use': async (call, io) => (await import('./workspace/workspace.ts')).workspaceUse(call, io),
  'workspace usage': async (call, io) => (await import('./workspace/workspace.ts')).workspaceUsage(call, io),
  'workspace extend': async (call, io) =>
    (await import('./workspace/workspace.ts')).workspaceExtend(call, io),
  'workspace end-reserve': async (call, io) =>
    (await import('./workspace/workspace.ts')).workspaceEndReserve(call, io),
  'workspace export': async (call, io) => (await import('./workspace/export.ts')).workspaceExport(call, io),
  'workspace import': async (call, io) => (await import('./workspace/export.ts')).workspaceImport(call, io),
  'workspace dispose': async (call, io) =>
    (await import('./workspace/dispose.ts')).workspaceDispose(call, io),
  'wallet new': async (call, io) => (await import('./wallet.ts')).walletNew(call, io),
  'wallet show': async (call, io) => (await import('./wallet.ts')).walletShow(call, io),
  'wallet balance': async (call, io) => (await import('./prepaid.ts')).walletBalance(call, io),
  'wallet prepay': async (call, io) => (await import('./prepaid.ts')).walletPrepay(call, io),
  'wallet refund': async (call, io) => (await import('./prepaid.ts')).walletRefund(call, io),
  mcp: async (call, io) => (await import('./mcp.ts')).mcpCommand(call, io),
  sign: async (call, io) => (await import('./sign.ts')).signCommand(call, io),
  completion: async ({ words }, io) => (await import('./words/completion.ts')).completionCommand(words, io),
};

/** Runs one command. @returns its exit code; faults are explained, never thrown. */
export async function runAgentCommand(words: readonly string[], io: Io): Promise<number> {
  try {
    if (words[0] === '--version' || words[0] === '-V') {
      io.write(`farthing ${VERSION}\n`);
      return EXIT.done;
    }
    const { help, name, args } = askedOf(AGENT, words, io.out?.columns);
    if (help === undefined) return await run(name, args, io);
    io.write(help);
    return EXIT.done;
  } catch (error) {
    return explainFailure(error, io, words.includes('--json'));
  }
}

function run<Name extends CommandName>(name: Name, args: readonly string[], io: Io): Promise<number> {
  return RUNS[name](parseCall(AGENT, name, args), io);
}
