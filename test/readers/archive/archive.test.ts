import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { cleanPath } from '../../../src/readers/process/collector.ts';
import { openBytes, recognisedType, testExtractor, unpackBytes } from '../../rig/readers.ts';
import { tarGzOf, tarHeader, tarOf, zipOf } from '../samples/archives.ts';
import { encodedIn } from '../samples/encoded-in.ts';
import '../../rig/teardown-order.ts';

const FILES = {
  'notes/gulls.txt': 'The keeper counts gulls at dawn.',
  [`${'long '.repeat(40)}name.txt`]: 'Words under a long name.',
  'tea.md': '# Tea\n\nGreen tea turns bitter in boiling water.',
};

const MAKERS = [
  ['application/zip', zipOf],
  ['application/x-tar', tarOf],
  ['application/gzip', tarGzOf],
] as const;

t.test('zip, tar and tar.gz give the same files, in order', async (t) => {
  for (const [mediaType, make] of MAKERS) {
    const bytes = make(FILES);
    const membersBytes = Object.values(FILES).join('').length;
    t.same(await openBytes(bytes), { kind: 'archive', mediaType, members: 3, membersBytes });
    t.same(
      await unpackBytes(bytes),
      Object.entries(FILES).map(([path, text]) => ({ path, text })),
    );
  }
});

t.test('any one file may be compressed by itself', async (t) => {
  const text = 'The keeper counts gulls at dawn. '.repeat(20_000);
  const bytes = gzipSync(text);
  t.same(await openBytes(bytes), {
    kind: 'archive',
    mediaType: 'application/gzip',
    members: 1,
    membersBytes: text.length,
  });
  t.same(await unpackBytes(bytes), [{ path: 'file', text }]);
  // As the command `gzip` does, and with a field before the name.
  const header = Buffer.from(bytes.subarray(0, 10));
  header[3] = 4 | 8;
  const named = Buffer.concat([header, Buffer.from('\x02\x00ab' + 'gulls.txt\x00'), bytes.subarray(10)]);
  t.same(await unpackBytes(named), [{ path: 'gulls.txt', text }]);
  await t.rejects(openBytes(bytes, { archiveBytesMax: 1000 }), { code: 'document_too_large' });
  t.match(await unpackBytes(bytes, { bytesMax: 20 }), [{ path: 'file', refused: 'file_too_large' }]);
  await t.rejects(openBytes(bytes.subarray(0, -10)), { code: 'file_corrupt' });
  await t.rejects(openBytes(gzipSync('')), { code: /media_type_unsupported|file_empty/ });
  await t.rejects(recognisedType(Buffer.from([0x1f, 0x8b, 1, 2, 3])), { code: 'media_type_unsupported' });
});

t.test('folders, links, devices and files of operating systems are no members', async (t) => {
  const tar = Buffer.concat([
    tarHeader('folder/', 0, '5'),
    tarHeader('link', 0, '2', '/etc/passwd'),
    tarHeader('hard', 0, '1', '/etc/shadow'),
    tarHeader('device', 0, '3'),
    tarOf({ 'a.txt': 'words', '.DS_Store': 'x', '__MACOSX/._a.txt': 'x' }),
  ]);
  t.same(await unpackBytes(tar), [{ path: 'a.txt', text: 'words' }]);
  t.same(await unpackBytes(zipOf({ 'folder/': '', 'folder/a.txt': 'words', 'Thumbs.db': 'x' })), [
    { path: 'folder/a.txt', text: 'words' },
  ]);
});

t.test('an archive with too many files, too many bytes or none is refused when it is opened', async (t) => {
  const limits = { archiveMembersMax: 2, archiveBytesMax: 1000 };
  for (const [, make] of MAKERS) {
    const open = (bytes: Buffer) => openBytes(bytes, limits);
    await t.rejects(open(make(FILES)), { code: 'document_too_large', facts: { limit_members: 2 } });
    await t.rejects(open(make({ a: 'a'.repeat(1001) })), {
      code: 'document_too_large',
      facts: { limit_bytes: 1000 },
    });
    await t.rejects(open(make({ 'empty.txt': '' })), { code: 'file_empty' });
  }
});

t.test('a member that is damaged, too large or of a false size is refused alone', async (t) => {
  const zip = zipOf({ 'a.txt': 'first words', 'b.txt': 'second words', 'c.txt': 'third words' });
  const lying = Buffer.from(zip);
  const at = lying.indexOf('PK\x01\x02', lying.indexOf('PK\x01\x02') + 1);
  lying.writeUInt32LE(3, at + 24);
  t.same(await unpackBytes(lying), [
    { path: 'a.txt', text: 'first words' },
    { path: 'b.txt', text: '', refused: 'file_corrupt' },
    { path: 'c.txt', text: 'third words' },
  ]);
  for (const [, make] of MAKERS) {
    const members = await unpackBytes(make({ 'a.txt': 'long '.repeat(10), 'b.txt': 'short' }), {
      bytesMax: 20,
    });
    t.same(members, [
      { path: 'a.txt', text: '', refused: 'file_too_large' },
      { path: 'b.txt', text: 'short' },
    ]);
  }
});

t.test('the path of a member cannot lead outside', async (t) => {
  t.equal(cleanPath('../../etc/passwd'), 'etc/passwd');
  t.equal(cleanPath('/etc/passwd'), 'etc/passwd');
  t.equal(cleanPath('..\\..\\windows\\system.ini'), 'windows/system.ini');
  t.equal(cleanPath('a/\u0000\u202eb/./c.txt'), 'a/b/c.txt');
  t.equal(cleanPath('..'), 'file');
});

t.test('an archive is unpacked into the given files, and nowhere else', async (t: Test) => {
  const { extractor } = testExtractor(t);
  t.testdir({});
  const large = Buffer.alloc(3 * 2 ** 20, 'some words that repeat ');
  const path = join(t.testdirName, 'archive');
  writeFileSync(path, zipOf({ '../../escaped.txt': 'out', 'large.txt': large }));
  const fileInfo = await extractor.open(path, {});
  t.match(fileInfo, { kind: 'archive', members: 2, membersBytes: large.length + 3 });
  const members = await extractor.unpack(path, fileInfo, {
    target: (index) => join(t.testdirName, 'out', `member-${index}`),
  });
  t.match(members, [
    { index: 0, path: 'escaped.txt', bytes: 3 },
    {
      index: 1,
      path: 'large.txt',
      bytes: large.length,
      sha256: createHash('sha256').update(large).digest('hex'),
    },
  ]);
  t.equal(readFileSync(join(t.testdirName, 'out/member-0'), 'utf8'), 'out');
  t.ok(readFileSync(join(t.testdirName, 'out/member-1')).equals(large));
});

t.test('names in an old code page are read in the likeliest of all names of the archive', async (t) => {
  for (const [name, bytes] of [
    ['Договор аренды', encodedIn('ibm866', 'Договор аренды')],
    ['新しい契約書', encodedIn('shift_jis', '新しい契約書')],
    // Code page 850.
    ['Geschäftsbücher für Köln', Buffer.from('Gesch\x84ftsb\x81cher f\x81r K\x94ln', 'latin1')],
  ] as const) {
    const stand = 'x'.repeat(bytes.length);
    const zip = zipOf({ [`${stand}.txt`]: 'Words.', 'plain.txt': 'More.' }).toString('latin1');
    const renamed = Buffer.from(zip.replaceAll(stand, bytes.toString('latin1')), 'latin1');
    t.same(
      (await unpackBytes(renamed)).map(({ path }) => path),
      [`${name}.txt`, 'plain.txt'],
    );
  }
});
