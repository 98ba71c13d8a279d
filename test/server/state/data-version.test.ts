import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkDataVersion, DATA_VERSION } from '../../../src/server/state/data-version.ts';

t.test('a new folder gets the version, and nothing beside it', async (t) => {
  const folder = t.testdir({});
  await checkDataVersion(folder);
  await checkDataVersion(folder);
  t.same(readdirSync(folder), ['version']);
  t.equal(readFileSync(join(folder, 'version'), 'utf8'), `${DATA_VERSION}\n`);
});

t.test('an empty version, which a power cut left of a first start, is written anew', async (t) => {
  const folder = t.testdir({ version: '' });
  await checkDataVersion(folder);
  t.equal(readFileSync(join(folder, 'version'), 'utf8'), `${DATA_VERSION}\n`);
});

t.test('a newer version, and one that says nothing, are refused', async (t) => {
  const folder = t.testdir({});
  for (const version of [`${DATA_VERSION + 1}\n`, '0\n', '\n', 'x']) {
    writeFileSync(join(folder, 'version'), version);
    await t.rejects(checkDataVersion(folder), { message: /use a newer one/ });
  }
});
