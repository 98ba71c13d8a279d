import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { AnswerStore } from '../../../src/payment/records/answers.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';

const answer = { status: 200, headers: { 'X-Test': 'yes' }, body: { hits: [1, 2, 3] } };

function open(t: Teardown, bytesPerTenantMax = 10_000) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'alice'));
  return {
    folder,
    answers: new AnswerStore({ tenants: { folder: (tenant) => join(folder, tenant) }, bytesPerTenantMax }),
  };
}

t.test('a Tenant without a folder gets none from its answers', async (t) => {
  const { answers, folder } = open(t);
  t.equal(await answers.keep('bob', 'p1', answer), false);
  t.equal(existsSync(join(folder, 'bob')), false);
  await answers.keep('alice', 'p1', answer);
  rmSync(join(folder, 'alice'), { recursive: true });
  t.equal(await answers.keep('alice', 'p2', answer), false);
  t.equal(existsSync(join(folder, 'alice')), false, 'disposed stays disposed');
});

t.test('a damaged file counts as none', async (t) => {
  const { answers, folder } = open(t);
  await answers.keep('alice', 'p1', answer);
  const path = join(folder, 'alice', 'answers', readdirSync(join(folder, 'alice', 'answers'))[0]!);
  const content = readFileSync(path, 'utf8');
  for (const damage of [content.slice(0, -5), content.replace('"hits"', '"hats"'), '', 'x']) {
    writeFileSync(path, damage);
    t.equal(await answers.find('alice', 'p1'), undefined);
  }
});

t.test('the budget of a Tenant is kept, and room comes back with removals and replacements', async (t) => {
  const { answers, folder } = open(t, 1000);
  const big = { ...answer, body: { text: 'x'.repeat(300) } };
  t.equal(await answers.keep('alice', 'p1', big), true);
  t.equal(await answers.keep('alice', 'p2', big), true);
  t.equal(await answers.keep('alice', 'p3', big), false);
  await answers.remove('alice', 'p1');
  t.equal(await answers.keep('alice', 'p3', big), true);
  mkdirSync(join(folder, 'carol'));
  t.equal(await answers.keep('carol', 'p1', big), true, 'budgets are per Tenant');
});
