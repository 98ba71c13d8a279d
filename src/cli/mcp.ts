import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Farthing } from '../client/index.ts';
import { localBackend, type WorkspaceKeeper } from '../mcp/local-backend.ts';
import { makeServer } from '../mcp/server.ts';
import { COMMON_OPTIONS, openAccess } from './access.ts';
import { EXIT, type Io } from './io.ts';
import { forget, readMemory, remember } from './workspace/workspace-memory.ts';

/** `mcp`: serves the tools over standard input and output until the host closes them. Prices are not confirmed: the budget is the limit. */
export async function mcpCommand(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: COMMON_OPTIONS });
  const { client } = await openAccess(
    { ...values, yes: true, 'no-workspace': values.workspace === undefined },
    io,
  );
  const keeper = keeperOf(client, io, values.workspace);
  const server = makeServer('local', (_meta, cancelled) =>
    localBackend({ client, keeper, readFile, signal: AbortSignal.any([cancelled, io.signal]) }),
  );
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
    io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
  return EXIT.done;
}

/** Shares the remembered workspaces with the other commands. */
function keeperOf(client: Farthing, io: Io, fixed: string | undefined): WorkspaceKeeper {
  return {
    current: async () => fixed ?? (await readMemory(io)).current ?? undefined,
    find: async (id) => {
      const known = (await readMemory(io)).known[id];
      return known?.server === client.baseUrl
        ? client.workspaces.open({ id, token: known.token })
        : undefined;
    },
    add: ({ id, token }, { expires_at }) => remember(io, id, { server: client.baseUrl, token, expires_at }),
    remove: (id) => forget(io, id),
  };
}
