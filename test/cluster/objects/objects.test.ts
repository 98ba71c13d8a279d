import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { FolderObjects } from '../../../src/cluster/stores/objects/folder-objects.ts';
import { S3Objects } from '../../../src/cluster/stores/objects/s3.ts';
import { listening } from '../../rig/ports.ts';
import { GarageServer, withoutGarage } from './garage-server.ts';
import { objectsContract } from './objects-contract.ts';

objectsContract('in a folder', async (t) => new FolderObjects(t.testdir({}), 'farthing/'));

t.test('a folder that is not there is not made: it may not be mounted', async (t) => {
  const objects = new FolderObjects(join(t.testdir({}), 'absent'));
  const away = { code: 'objects_unavailable' };
  await t.rejects(objects.put('t/a/1.0', Buffer.from('a')), away);
  await t.rejects(objects.get('t/a/1.0'), away, 'and what is in it does not seem to be gone');
  await t.rejects(objects.list('t/a/'), away);
  await t.rejects(objects.remove('t/a/1.0'), away);
});

if (withoutGarage !== undefined) {
  t.pass('objects in a real S3 server', { skip: withoutGarage });
} else {
  const garage = await GarageServer.start(join(t.testdir({}), 'garage'));
  t.teardown(() => garage.stop());
  const open = (bucket: string, options: Partial<ConstructorParameters<typeof S3Objects>[0]> = {}) =>
    new S3Objects({
      endpoint: garage.endpoint,
      bucket,
      prefix: 'farthing/',
      region: 'garage',
      accessKeyId: garage.keyId,
      secretAccessKey: garage.secret,
      ...options,
    });
  objectsContract('in a bucket of Garage', async () => {
    await garage.bucket('contract');
    return open('contract');
  });

  t.test('an absent bucket and refused credentials are told apart, at the check', async (t) => {
    await t.rejects(open('absent').check(), { message: /no such bucket/ });
    await garage.bucket('forbidden');
    const secretAccessKey = randomBytes(32).toString('hex');
    await t.rejects(open('forbidden', { secretAccessKey }).check(), { message: /credentials are refused/ });
    await t.rejects(open('forbidden', { secretAccessKey }).put('t/a/1.0', Buffer.from('a')), {
      code: 'objects_unavailable',
    });
  });

  t.test('a store that stands still costs a bounded time, and serves again afterwards', async (t) => {
    await garage.bucket('paused');
    const objects = open('paused', { patienceMs: 0 });
    await objects.put('t/a/1.0', Buffer.from('before'));
    garage.pause();
    await t.rejects(objects.put('t/a/2.0', Buffer.from('meanwhile')), { code: 'objects_unavailable' });
    garage.resume();
    await objects.put('t/a/3.0', Buffer.from('after'));
    t.same(Buffer.from((await objects.get('t/a/1.0'))!).toString(), 'before');
  });
}

/** A bucket that answers as one with these settings does: Garage has neither. */
async function bucketThat(
  test: typeof t,
  answer: (url: string, count: number) => { status: number; body: string },
): Promise<S3Objects> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    const { status, body } = answer(request.url!, count);
    request.resume().on('end', () => response.writeHead(status).end(body));
  });
  const { url: endpoint } = await listening(test, server);
  return new S3Objects({
    endpoint,
    bucket: 'b',
    prefix: '',
    region: 'r',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    patienceMs: 2000,
  });
}

t.test('a bucket with versions, or with a lock, is refused: it keeps what is removed', async (t) => {
  for (const status of ['Enabled', 'Suspended']) {
    const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
    const versioned = await bucketThat(t as never, () => ({ status: 200, body }));
    await t.rejects(versioned.check(), { message: /versioning/ });
  }
  const locked = await bucketThat(t as never, (url) =>
    url.includes('object-lock')
      ? {
          status: 200,
          body: '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
        }
      : { status: 200, body: '<VersioningConfiguration/>' },
  );
  await t.rejects(locked.check(), { message: /object lock/ });
});

t.test('an answer of 5xx or 429 is asked for again, one of 4xx is not', async (t) => {
  const busy = await bucketThat(t as never, (_url, count) => ({
    status: [503, 429, 500][count - 1] ?? 200,
    body: '',
  }));
  await t.resolves(busy.put('t/a/1.0', Buffer.from('a')));
  let asked = 0;
  const refusing = await bucketThat(t as never, (_url, count) => {
    asked = count;
    return { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' };
  });
  await t.rejects(refusing.put('t/a/1.0', Buffer.from('a')), { code: 'objects_unavailable' });
  t.equal(asked, 1);
});
