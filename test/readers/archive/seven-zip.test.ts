import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openBytes, unpackBytes } from '../../rig/readers.ts';

/** Each holds three files, one of them empty, and a link; made with py7zr. */
const archive = (name: string): Buffer => readFileSync(join(import.meta.dirname, '7z', `${name}.7z`));

t.test('files of a 7z are members, however they are packed; links are left out', async (t) => {
  for (const name of ['lzma2', 'lzma', 'delta', 'stored', 'deflate']) {
    t.match(await openBytes(archive(name)), { kind: 'archive', members: 3 }, name);
    const members = await unpackBytes(archive(name));
    t.match(
      members.sort((left, right) => left.path.localeCompare(right.path)),
      [
        { path: 's/a.txt', text: /^The looms of Ormskirk/ },
        { path: 's/empty.txt', text: '' },
        { path: 's/sub/b.txt', text: /slate\. łódź$/ },
      ],
      name,
    );
  }
});

t.test('members with a password, or packed in an unknown way, are refused alone', async (t) => {
  for (const [name, code] of [
    ['locked', 'file_encrypted'],
    ['ppmd', 'media_type_unsupported'],
  ] as const)
    t.ok(
      (await unpackBytes(archive(name))).every(({ refused }) => refused === code),
      name,
    );
  await t.rejects(openBytes(archive('locked-names')), { code: 'file_encrypted' });
});

const REFUSALS = /^(file_(corrupt|encrypted|empty|too_large)|document_too_large|media_type_unsupported)$/;

t.test('an archive that is cut off or changed anywhere is refused, or its members are', async (t) => {
  for (const name of ['lzma2', 'lzma', 'stored']) {
    const whole = archive(name);
    for (let at = 6; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1 << (at % 8);
      for (const bytes of [changed, whole.subarray(0, at)]) {
        const outcome = await unpackBytes(bytes).catch((error) => error.code);
        const codes = Array.isArray(outcome) ? outcome.flatMap(({ refused = [] }) => refused) : [outcome];
        if (!codes.every((code) => REFUSALS.test(code))) t.fail(`${name}, byte ${at}: ${codes}`);
      }
    }
  }
  t.pass();
});

t.test('what an archive says to unfold to is not believed', async (t) => {
  await t.rejects(openBytes(archive('lzma2'), { archiveBytesMax: 100 }), { code: 'document_too_large' });
  await t.rejects(openBytes(archive('lzma2'), { archiveMembersMax: 2 }), { code: 'document_too_large' });
  const [first] = await unpackBytes(archive('stored'), { bytesMax: 20 });
  t.equal(first?.refused, 'file_too_large');
});
