import { pino } from 'pino';
import t from 'tap';
import type { Readiness } from '../../../../src/server/http/access/services.ts';
import { Metrics } from '../../../../src/server/metrics/metrics.ts';
import { Traffic } from '../../../../src/server/metrics/traffic.ts';
import {
  type OperatorPageDeps,
  openOperatorPage,
} from '../../../../src/server/operator/running/operator-page.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { environmentOf } from '../../../rig/environment.ts';
import '../../../rig/teardown-order.ts';

t.test('the snapshot has what the probe of the indexes measured, once it has', async (t) => {
  const metrics = new Metrics();
  const page = await openOperatorPage({
    settings: readConfig(environmentOf({ ADMIN_PORT: '0', DATA_DIR: t.testdir({}) })),
    snapshot: () => ({}) as ReturnType<OperatorPageDeps['snapshot']>,
    services: {
      readiness: () => ({ ready: true, body: {} as Readiness['body'] }),
      onFault: (error) => t.fail(String(error)),
    },
    traffic: new Traffic(),
    registry: metrics.registry,
    consoleFolder: t.testdir({}),
    log: pino({ level: 'silent' }),
  });
  t.teardown(() => page!.close());
  const probed = async () => {
    const answer = await fetch(`http://127.0.0.1:${page!.port}/snapshot.json`);
    return ((await answer.json()) as { recall_probe: { name: string }[] }).recall_probe;
  };
  t.same(await probed(), []);
  metrics.probed({ list: 'text_semantic', method: 'bits', expected: 10, found: 9 });
  const samples = await probed();
  t.match(
    samples.find(({ name }) => name === 'farthing_recall'),
    { type: 'gauge', labels: { list: 'text_semantic' }, value: 0.9 },
  );
  t.same(samples.map(({ name }) => name).toSorted(), [
    'farthing_recall',
    'farthing_recall_expected_hits_total',
    'farthing_recall_found_hits_total',
  ]);
});
