import t from 'tap';
import { LoopYields } from '../../src/search/yield-to-loop.ts';

t.test('each piece of work has its own turn of the event loop, in order', async (t) => {
  const turns = new LoopYields(() => 0);
  const seen: string[] = [];
  const work = async (name: string) => {
    await turns.take('tenant');
    seen.push(name);
  };
  let loops = 0;
  const count = () => {
    loops += 1;
    seen.push(`turn ${loops}`);
    if (loops < 4) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([work('a'), work('b'), work('c')]);
  t.strictSame(seen, ['a', 'turn 1', 'b', 'turn 2', 'c']);
  await new Promise((resume) => setTimeout(resume, 1));
  await work('d');
  t.equal(seen.at(-1), 'd', 'and later the first one waits for nothing again');
});

t.test('a turn whose other work takes long takes more pieces, for as much time', async (t) => {
  let clock = 0;
  const turns = new LoopYields(() => clock);
  const seen: string[] = [];
  const work = async (name: string) => {
    await turns.take('tenant');
    seen.push(name);
  };
  const all = Promise.all(Array.from({ length: 7 }, (_, index) => work(`${index}`)));
  for (let turn = 1; turn <= 3; turn++) {
    clock += 12;
    await new Promise<void>((resume) => setImmediate(resume));
    seen.push('|');
  }
  await all;
  t.equal(seen.join(''), '012|345|6|');
});

t.test("a Tenant's piece waits for one of another's, not for all of them", async (t) => {
  const turns = new LoopYields(() => 0);
  const seen: string[] = [];
  const work = async (tenant: string) => {
    await turns.take(tenant);
    seen.push(tenant);
  };
  const many = Array.from({ length: 5 }, () => work('many'));
  await Promise.all([...many, work('one'), work('one')]);
  t.equal(seen.join(' '), 'many many one many one many many');
});

t.test(
  "pieces that take long are not taken for the turn's other work: they make no longer turns",
  async (t) => {
    let clock = 0;
    const turns = new LoopYields(() => clock);
    const seen: string[] = [];
    const work = async (name: string) => {
      await turns.take('tenant');
      clock += 20;
      seen.push(name);
    };
    const all = Promise.all(Array.from({ length: 6 }, (_, index) => work(`${index}`)));
    for (let turn = 1; turn <= 6; turn++) {
      await new Promise<void>((resume) => setImmediate(resume));
      seen.push('|');
    }
    await all;
    t.equal(seen.join(''), '012|3|4|5|||');
  },
);
