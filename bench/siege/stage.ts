import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BenchWorkspace, payingClient, type StartedServer, startServer } from '../rig/agent.ts';
import { ATTACKS, BESIEGED } from './attacks.ts';
import type { Target } from './requests.ts';
import { startSlowFacilitator } from './slow-facilitator.ts';

/** The client whose searches and uploads must go on. Each is reported as `answered`, or as the refusal or fault. */
export interface Client {
  search(query: string): Promise<string>;
  /** Adds a text, and waits until it is searchable. */
  upload(text: string): Promise<string>;
}

/** A server, a client that has something to find, and a workspace of somebody else. */
export interface Stage {
  readonly server: StartedServer;
  readonly client: Client;
  readonly target: Target;
  stop(): Promise<void>;
}

const MINUTES = 15;
/** An upload that is not searchable after all of them counts as refused, by the state that it has reached. */
const [TURNS_MAX, TURN_SECONDS] = [8, 60];
const FILE = ['log.txt', 'The lighthouse keeper counts gulls at dawn.'] as const;
const ALMANAC = join(import.meta.dirname, '../../samples/almanac.pdf');
/** Preloaded into a server that is besieged. */
export const PROBE = join(import.meta.dirname, 'probe.ts');

/** Opens the stage of an attack. @param settings beside those of every siege */
export async function openStage(attack: string, settings: Record<string, string> = {}): Promise<Stage> {
  const { facilitatorCallsPerSecond } = ATTACKS[attack]!;
  if (facilitatorCallsPerSecond === undefined) {
    const server = await startServer({ ...BESIEGED, ...settings }, { preload: PROBE });
    return { ...(await staged(server, tokenClient(await rent(server.url)))), stop: () => server.stop() };
  }
  const facilitator = await startSlowFacilitator(facilitatorCallsPerSecond);
  const remote = { PAY_TO: BESIEGED.PAY_TO, FACILITATOR: facilitator.url };
  const server = await startServer({ ...remote, ...settings }, { preload: PROBE });
  const stop = async () => {
    await server.stop();
    await facilitator.close();
  };
  return { ...(await staged(server, await payer(server.url))), stop };
}

/** A workspace with something to find. */
export async function rent(url: string): Promise<BenchWorkspace> {
  const workspace = await BenchWorkspace.rent(url, MINUTES);
  await workspace.ingest(FILE[0], Buffer.from(FILE[1]));
  return workspace;
}

/**
 * A workspace with a PDF: that is read by the last but one of the processes that start behind a server's start. Before, the server's open
 * files are no measure of what an attack leaves.
 */
async function filled(url: string): Promise<BenchWorkspace> {
  const workspace = await BenchWorkspace.rent(url, MINUTES);
  await workspace.ingest('almanac.pdf', await readFile(ALMANAC));
  return workspace;
}

/** @param attacked workspace of the attacker; absent: a new one */
export async function staged(
  server: StartedServer,
  client: Client,
  attacked?: BenchWorkspace,
): Promise<Omit<Stage, 'stop'>> {
  const { url, token } = attacked ?? (await filled(server.url));
  const target = {
    url: server.url,
    folder: server.folder,
    workspace: { path: new URL(url).pathname, token },
  };
  return { server, client, target };
}

/** It asks with the token of its workspace. */
export function tokenClient({ url, headers }: BenchWorkspace): Client {
  const ask = async (
    path: string,
    body: string,
    more: Record<string, string> = {},
    turn = 1,
  ): Promise<string> => {
    try {
      const answer = await fetch(url + path, { method: 'POST', headers: { ...headers, ...more }, body });
      const told = (await answer.json()) as { detail?: string; job?: { state: string } };
      if (!answer.ok) return `${answer.status} ${told.detail}`;
      const { state = 'searchable' } = told.job ?? {};
      if (state === 'searchable') return 'answered';
      // The same bytes again are waited for again.
      return state === 'failed' || turn === TURNS_MAX ? state : await ask(path, body, more, turn + 1);
    } catch (error) {
      return (error as Error).message;
    }
  };
  return {
    search: (query) => ask('/search', JSON.stringify({ query })),
    upload: (text) => {
      const disposition = `attachment; filename="${text.slice(-8)}.txt"`;
      return ask('/ingest', text, { Prefer: `wait=${TURN_SECONDS}`, 'Content-Disposition': disposition });
    },
  };
}

/** It pays for each request and sees every refusal: its library retries nothing. */
async function payer(url: string): Promise<Client> {
  const client = payingClient(url, { attemptsMax: 1 });
  await client.ingest(new File([FILE[1]], FILE[0]));
  const told = (asked: Promise<unknown>) =>
    asked.then(
      () => 'answered',
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
  return {
    search: (query) => told(client.search({ query })),
    upload: (text) => told(client.ingest(new File([text], `${text.slice(-8)}.txt`))),
  };
}
