import t from 'tap';
import { readableLine } from '../../../../src/server/start/terminal/log-line.ts';

const time = new Date(2026, 10, 22, 9, 8, 7).getTime();
const line = (entry: object) =>
  readableLine(`${JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...entry })}\n`);

t.test('a request is one line: status, method, route, time, and why it was refused', async (t) => {
  const request = { event: 'answered', request_id: 'req_1', method: 'POST', route: '/agent/v1/search' };
  t.match(
    line({ ...request, status: 200, ms: 45.185 }),
    /^09:08:07 {2}200 {2}POST {3}\/agent\/v1\/search +45 ms\n$/,
  );
  t.match(
    line({ ...request, status: 402, code: 'payment_required', ms: 0.98 }),
    /1\.0 ms {2}payment_required\n$/,
  );
});

t.test('any other event is its words and its facts, long ones cut, empty ones left out', async (t) => {
  t.equal(
    line({ event: 'ingest_done', segments: 5, ms: 1880, missing: [] }),
    '09:08:07  ingest done  segments=5  1.9 s\n',
  );
  const long = line({ event: 'x', reasons: Array.from({ length: 100 }, () => 'there is no NVIDIA device') });
  t.ok(long.length < 160, `${long.length} characters`);
});

t.test('warnings and errors are marked, and an error shows its stack', async (t) => {
  t.match(
    line({ level: 40, event: 'setting_notice', variable: 'PORT' }),
    /^09:08:07 {2}warning {2}setting notice {2}variable=PORT\n$/,
  );
  t.match(
    line({ level: 50, event: 'fault', err: { message: 'no', stack: 'Error: no\n    at x' } }),
    /ERROR {2}fault {2}Error: no\n {4}at x\n$/,
  );
});

t.test('a terminal obeys nothing that a stranger sent', async (t) => {
  const shown = line({ event: 'fault', file: 'a\u001b[2Jb', err: { stack: 'Error: \u009b31m\r\n    at x' } });
  t.notMatch(shown, /(?!\n)\p{Cc}/u);
  t.match(shown, /file=a.\[2Jb {2}Error: .31m.\n {4}at x\n$/);
});

t.test('what is no JSON stays as it is', async (t) => {
  t.equal(readableLine('plain words\n'), 'plain words\n');
});
