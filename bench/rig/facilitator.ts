import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

export interface AgreeingFacilitator {
  readonly url: string;
  /** How long a verification takes, until it is set anew. */
  verifyMs: number;
  close(): void;
}

/** A facilitator for a bench: it checks nothing and agrees to everything, after a set time. */
export async function startAgreeingFacilitator(): Promise<AgreeingFacilitator> {
  const timed = { verifyMs: 0 };
  const server = createServer(async (request, response) => {
    const reply = (answer: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    if (request.url === '/supported') {
      const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }];
      return reply({ kinds, extensions: [], signers: {} });
    }
    const { paymentPayload } = JSON.parse(await textOf(request)) as {
      paymentPayload: { payload: { authorization: { from: string } } };
    };
    const payer = paymentPayload.payload.authorization.from;
    if (request.url === '/verify') {
      if (timed.verifyMs > 0) await after(timed.verifyMs);
      return reply({ isValid: true, payer });
    }
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    return reply({ success: true, payer, transaction, network: 'eip155:8453' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(timed, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

/** The same in a process of its own. */
export async function forkFacilitator(): Promise<{
  readonly url: string;
  verifyTakes(milliseconds: number): void;
  close(): void;
}> {
  const child = fork(join(import.meta.dirname, 'facilitator-process.ts'));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    verifyTakes: (milliseconds) => void child.send(milliseconds),
    close: () => child.disconnect(),
  };
}
