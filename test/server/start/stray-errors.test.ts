import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const MODULES = join(import.meta.dirname, '../../../src/server/start');

/** A process with the server's log and its handlers, in which `code` runs; what it wrote, and how it ended. */
async function run(t: Test, code: string): Promise<{ lines: Record<string, unknown>[]; status: number }> {
  const program = `
    import { native } from '${MODULES}/../../native/index.ts';
    import { openLog } from '${MODULES}/log.ts';
    import { strayErrors } from '${MODULES}/stray-errors.ts';
    const log = openLog({ LOG_LEVEL: 'info' });
    const stray = strayErrors((event) => log.error(event), (event) => {
      openLog({ LOG_LEVEL: 'info' }, { sync: true }).error(event);
      native.endProcess(1);
    });
    process.on('unhandledRejection', stray.unhandledRejection);
    process.on('uncaughtException', stray.uncaughtException);
    ${code}
    setImmediate(() => log.info({ event: 'went on' }));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  t.teardown(() => child.kill());
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
  });
  const [status] = await once(child, 'close');
  const lines = output.trim().split('\n');
  return { status, lines: lines.map((line) => JSON.parse(line)) };
}

t.test('a rejection that nobody holds is logged with its stack, and the server goes on', async (t) => {
  const { lines, status } = await run(t, `Promise.reject(new Error('a request fell over'));`);
  t.match(lines, [
    { level: 50, event: 'unhandled_rejection', err: { message: 'a request fell over', stack: /\n {4}at / } },
    { event: 'went on' },
  ]);
  t.equal(status, 0);
});

t.test('an exception that nobody caught is logged with its stack, and ends the process', async (t) => {
  const { lines, status } = await run(t, `setImmediate(() => { throw new Error('who knows'); });`);
  t.match(lines, [{ level: 50, event: 'uncaught_exception', err: { message: 'who knows', stack: String } }]);
  t.equal(lines.length, 1);
  t.equal(status, 1);
});
