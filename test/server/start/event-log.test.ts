import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { FarthingError } from '../../../src/protocol/error.ts';
import { logOptions } from '../../../src/server/start/log.ts';
import { eventLog } from '../../../src/server/wiring/event-log.ts';
import { PAY_TO } from '../../payment/rig/payments.ts';
import { outsideFacilitator } from '../../payment/rig/remote-rig.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { TestAgent } from '../../rig/test-server.ts';

const WARN = 40;

function written(level: string) {
  const lines: string[] = [];
  const log = pino(logOptions(level), { write: (line) => void lines.push(line) });
  let counted = 0;
  return { lines, event: eventLog({ logged: () => void counted++ }, log), counted: () => counted };
}

t.test('what a full disk fails everywhere is counted each time, and logged once', async (t) => {
  const { lines, event, counted } = written('info');
  const error = new FarthingError('books_unavailable', 'The disk of the server is full.');
  for (let time = 0; time < 50; time++) {
    event({ level: 'error', event: 'settlement_unfinished', error });
    event({ event: 'sweep_failed', error: String(error) });
  }
  t.equal(lines.length, 1);
  t.equal(counted(), 100);
  event({ event: 'other', error: 'Error: it is gone' });
  t.equal(lines.length, 2);
});

t.test('at "warn" the log of a server tells why its facilitator does not settle', async (t) => {
  const { server: facilitator } = await outsideFacilitator(t);
  facilitator.behaviour.settle = 'turned_away';
  const folder = t.testdir({});
  const log = join(folder, 'server.log');
  const server = await ServedProcess.start(t, {
    data: join(folder, 'data'),
    log,
    environment: { LOG_LEVEL: 'warn', FACILITATOR: facilitator.url, PAY_TO },
  });
  const agent = new TestAgent(server.url);
  t.match(await agent.post('/agent/v1/workspaces', {}), {
    status: 503,
    body: { code: 'facilitator_unavailable' },
  });
  await server.kill();
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"level":'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.match(
    lines.filter(({ event }) => event === 'facilitator_trouble'),
    [{ level: WARN, detail: '/settle answered 401' }],
  );
});
