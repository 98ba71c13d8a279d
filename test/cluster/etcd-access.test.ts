import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import t from 'tap';
import { AccessRefusedError, Etcd, type EtcdAccess } from '../../src/cluster/stores/etcd.ts';
import { AnswerLostError } from '../../src/cluster/stores/kv.ts';
import { makeCertificates, withoutOpenssl } from '../rig/certificates.ts';
import { EtcdServers, withoutEtcd } from './etcd-servers.ts';
import '../rig/teardown-order.ts';
import { eventually } from '../rig/eventually.ts';

const absent = withoutEtcd ?? withoutOpenssl;

if (absent !== undefined) {
  t.pass('etcd over TLS, with a password', { skip: absent });
} else {
  const folder = t.testdir({});
  const files = makeCertificates(join(folder, 'certificates'));
  const servers = await EtcdServers.start(join(folder, 'etcd'), { certificates: files });
  t.teardown(() => servers.stop());
  const tls = {
    ca: readFileSync(files.ca, 'utf8'),
    cert: readFileSync(files.cert, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
  };
  const open = (access: EtcdAccess): Etcd => {
    const kv = new Etcd(servers.addresses, access);
    t.teardown(() => kv.close());
    return kv;
  };
  await answers(open({ tls }));

  t.test('a certificate of an authority that is not named is refused, in words', async (t) => {
    const error = await open({})
      .check('/farthing/')
      .catch((failure: unknown) => failure);
    t.ok(error instanceof AccessRefusedError, String(error));
    const silent = await open({ tls: { ca: tls.ca } })
      .range('a', 'b')
      .catch((failure: unknown) => failure);
    t.ok(silent instanceof AnswerLostError, 'and etcd answers nobody without a certificate');
  });

  t.test(
    'with a user, rows are read and written; a wrong password is refused; a token that is over is renewed',
    async (t) => {
      await allow(servers.addresses[0]!, tls);
      const user = { name: 'farthing', password: 'a password' };
      const kv = open({ tls, user });
      await kv.check('/farthing/');
      t.ok((await kv.commit({ when: [], puts: [{ key: '/farthing/a', value: Buffer.from('1') }] })).done);
      const wrong = await open({ tls, user: { ...user, password: 'another' } })
        .check('/farthing/')
        .catch((failure: unknown) => failure);
      t.ok(wrong instanceof AccessRefusedError, String(wrong));
      t.notMatch(String(wrong), /another/);
      const elsewhere = await kv.check('/elsewhere/').catch((failure: unknown) => failure);
      t.ok(elsewhere instanceof AccessRefusedError, String(elsewhere));
      // A change of users ends all tokens.
      await post(
        servers.addresses[0]!,
        '/v3/auth/user/changepw',
        { name: 'farthing', password: 'a password' },
        tls,
        'root',
      );
      t.equal((await kv.range('/farthing/', '/farthing0')).length, 1);
    },
  );
}

/** Makes the users `root` and `farthing`, who may change what lies below `/farthing/`, and asks everybody who they are from then on. */
async function allow(address: string, tls: object): Promise<void> {
  const ask = (path: string, question: object) => post(address, path, question, tls);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  for (const name of ['root', 'farthing']) {
    await ask('/v3/auth/user/add', { name, password: 'a password' });
    await ask('/v3/auth/role/add', { name });
    await ask('/v3/auth/user/grant', { user: name, role: name });
  }
  await ask('/v3/auth/role/grant', {
    name: 'farthing',
    perm: { permType: 'READWRITE', key: base64('/farthing/'), range_end: base64('/farthing0') },
  });
  await ask('/v3/auth/enable', {});
}

async function post(
  address: string,
  path: string,
  question: object,
  tls: object,
  as?: string,
): Promise<string> {
  const token =
    as &&
    JSON.parse(await post(address, '/v3/auth/authenticate', { name: as, password: 'a password' }, tls)).token;
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, address), {
      method: 'POST',
      ...tls,
      headers: token ? { Authorization: token } : {},
    });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let body = '';
      response.on('data', (piece: Buffer) => {
        body += piece;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
    });
    asked.end(JSON.stringify(question));
  });
}

function answers(kv: Etcd): Promise<void> {
  return eventually(() => kv.range('a', 'b').then(Boolean, () => false));
}
