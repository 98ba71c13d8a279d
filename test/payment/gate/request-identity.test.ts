import t from 'tap';
import { type RequestIdentity, requestHash } from '../../../src/payment/gate/request-identity.ts';

const search: RequestIdentity = {
  method: 'POST',
  path: '/agent/v1/search',
  query: '',
  body: { kind: 'json', value: { query: 'a', k: 30 } },
};
const json = (value: unknown): RequestIdentity => ({ ...search, body: { kind: 'json', value } });
const file = { field: 'file', name: 'a.pdf', sha256: 'ab'.repeat(32) };

t.test('order of keys, null and absent members don’t matter', async (t) => {
  const hash = requestHash(search);
  t.match(hash, /^[0-9a-f]{64}$/);
  t.equal(requestHash(json({ k: 30, query: 'a' })), hash);
  t.equal(requestHash(json({ k: 30, query: 'a', families: null, image_b64: undefined })), hash);
  t.equal(requestHash({ ...search, method: 'post' }), hash);
});

t.test('method, path, query string, values, types and order in arrays matter', async (t) => {
  const different = [
    search,
    { ...search, method: 'GET' },
    { ...search, path: '/agent/v1/ingest' },
    { ...search, query: 'x=1' },
    { ...search, path: '/agent/v1/search?x=1' },
    json({ query: 'a', k: 31 }),
    json({ query: 'a', k: '30' }),
    json({ query: 'a', k: 30, families: ['raw', 'visual'] }),
    json({ query: 'a', k: 30, families: ['visual', 'raw'] }),
    json({ query: 'a', k: 30, 1: 'b' }),
    json(JSON.parse('{"query":"a","k":30,"__proto__":{"x":1}}')),
    { ...search, body: { kind: 'none' as const } },
  ];
  t.equal(new Set(different.map(requestHash)).size, different.length);
});

t.test('a multipart body is its fields, file names and digests, in any order', async (t) => {
  const second = { ...file, field: 'other', name: 'b.pdf' };
  const upload = (files: (typeof file)[], fields: Record<string, string | undefined>): RequestIdentity => ({
    ...search,
    path: '/agent/v1/ingest',
    body: { kind: 'multipart', fields, files },
  });
  const hash = requestHash(upload([file, second], { title: 'x', tag: undefined }));
  t.equal(requestHash(upload([second, file], { title: 'x' })), hash);
  t.not(requestHash(upload([{ ...file, name: 'c.pdf' }, second], { title: 'x' })), hash);
  t.not(requestHash(upload([{ ...file, sha256: 'cd'.repeat(32) }, second], { title: 'x' })), hash);
  t.not(requestHash(upload([file, second], { title: 'y' })), hash);
});
