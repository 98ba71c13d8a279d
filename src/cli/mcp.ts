import { readFile } from 'node:fs/promises';
import type { Farthing } from '@farthing/client';
import { localBackend, type WorkspaceKeeper } from '@farthing/mcp/local-backend';
import { makeServer } from '@farthing/mcp/server';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { houseKeyOf, openAccess } from './access/access.ts';
import { markEnded, readMemory, remember } from './access/workspace-memory.ts';
import { EXIT, type Io } from './terminal/io.ts';
import type { Call } from './words/specs.ts';

/** `mcp`: serves the tools over standard input and output until the host closes them. Prices are not confirmed: the budget is the limit. */
export async function mcpCommand({ values }: Call<'mcp'>, io: Io): Promise<number> {
  const isNamed = values.workspace !== undefined;
  const key = houseKeyOf(io);
  const withoutOne = values['no-workspace'] || (key === undefined && !isNamed);
  const { client, workspace } = await openAccess({ ...values, yes: true, 'no-workspace': withoutOne }, io, {
    patient: true,
    mayMake: true,
  });
  const { current } = await readMemory(io);
  const first = values['no-workspace'] ? undefined : (workspace?.id ?? current[client.baseUrl]);
  const keeper = keeperOf(client, io, first);
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

/** Shares the remembered workspaces with the other commands; which one is current is the session's own matter. */
function keeperOf(client: Farthing, io: Io, first: string | undefined): WorkspaceKeeper {
  let current = first;
  return {
    current: () => current,
    find: async (id) => {
      if (houseKeyOf(io) !== undefined) return client.house.open(id);
      const known = (await readMemory(io)).known[id];
      return known?.server === client.baseUrl && !('ended' in known)
        ? client.workspaces.open({ id, token: known.token })
        : undefined;
    },
    add: async ({ id, token }, { expires_at }) => {
      await remember(io, id, { server: client.baseUrl, token, expires_at });
      current = id;
    },
    remove: (id) => markEnded(io, id, 'destroyed'),
  };
}
