import type { DisposalAnswer } from '@farthing/protocol/schema/workspaces';
import type { OperatorView, WorkspacePage } from '../../workspace/views/views.ts';
import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import { askServer } from '../running/operator-socket.ts';

/** Writes a line for each workspace of the running server: id, state, seconds left, spend, end; of the house's the name. */
export async function listWorkspaces(io: CommandIo): Promise<number> {
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${after}`;
    const page: WorkspacePage = await askServer(dataFolder(io), 'GET', `/workspaces${query}`);
    for (const { id, state, ...rest } of page.workspaces) {
      const { ttl_seconds_left, spend_usd, expires_at } =
        'house' in rest
          ? { ttl_seconds_left: 'stays', spend_usd: 'house', expires_at: rest.name ?? '' }
          : rest;
      const cells = [
        id,
        state.padEnd(9),
        String(ttl_seconds_left).padStart(7),
        spend_usd.padStart(9),
        expires_at,
      ];
      io.write(`${cells.join('  ')}\n`);
    }
    after = page.next;
  }
  return EXIT.done;
}

/** Writes one workspace as JSON. */
export async function showWorkspace(id: string, io: CommandIo): Promise<number> {
  const workspace = await askServer<OperatorView>(dataFolder(io), 'GET', pathOf(id));
  io.write(`${JSON.stringify(workspace, null, 2)}\n`);
  return EXIT.done;
}

/** Destroys a workspace and writes its signed receipt. */
export async function disposeWorkspace(id: string, io: CommandIo): Promise<number> {
  const { receipt } = await askServer<DisposalAnswer>(dataFolder(io), 'DELETE', pathOf(id));
  io.write(`${receipt}\n`);
  return EXIT.done;
}

function pathOf(id: string): string {
  return `/workspaces/${encodeURIComponent(id)}`;
}
