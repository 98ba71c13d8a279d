import t from 'tap';
import { readableLine } from '../../../../src/server/start/terminal/log-line.ts';

const time = new Date(2026, 10, 22, 9, 8, 7).getTime();
const line = (entry: object) =>
  readableLine(`${JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...entry })}\n`);

t.test('a terminal obeys nothing that a stranger sent', async (t) => {
  const shown = line({ event: 'fault', file: 'a\u001b[2Jb', err: { stack: 'Error: \u009b31m\r\n    at x' } });
  t.notMatch(shown, /(?!\n)\p{Cc}/u);
  t.match(shown, /file=a.\[2Jb {2}Error: .31m.\n {4}at x\n$/);
});
