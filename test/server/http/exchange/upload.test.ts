import { readdir, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startTestServer, TestAgent, type TestWorkspace } from '../../../rig/test-server.ts';

/** Refused uploads are answered at once, whatever the client sends or doesn't send afterwards, and leave nothing behind. */

const LIMIT = 64 * 1024;
const BOUNDARY = 'between';
const PART = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="long.txt"\r\n\r\n`;
const START = `${PART}words`;
const MULTIPART = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`;
const TOO_MUCH = 'a'.repeat(LIMIT + 1);

const server = await startTestServer(
  t,
  { FILE_BYTES_MAX: String(LIMIT) },
  { tenantLimits: { ingestsAtOnce: 1 } },
);
const agent = new TestAgent(server.url);
const incoming = join(server.dataFolder, 'incoming');

function headOf({ id, token }: TestWorkspace, headers: string): string {
  return `POST /agent/v1/workspaces/${id}/ingest HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n\r\n`;
}

/** Sends the start of an upload and then nothing more: resolves with the status of the answer that comes all the same. */
function beginUpload(workspace: TestWorkspace, headers: string, start: string): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    const socket = connect(server.port, server.host);
    socket.once('data', (head) => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(head.toString())?.[1]));
    });
    socket.once('error', reject);
    socket.write(headOf(workspace, headers) + start);
  });
}

/** Nothing of a refused upload is held: the only place is free, and the workspace ends at once. */
async function isFree(t: Test, workspace: TestWorkspace): Promise<void> {
  t.equal((await workspace.send('POST', '/ingest', 'Green tea is steeped at eighty degrees.')).status, 200);
  t.same(await readdir(incoming), []);
  t.equal((await workspace.send('DELETE', '')).status, 200);
}

t.test('a multipart file over the limit is refused, with or without the rest of it', async (t) => {
  const workspace = await agent.rent();
  const whole = await workspace.ingest('long.txt', TOO_MUCH);
  t.match([whole.status, whole.body], [413, { code: 'file_too_large', limit_bytes: LIMIT, charged: false }]);
  const start = PART + TOO_MUCH;
  const chunk = `${start.length.toString(16)}\r\n${start}\r\n`;
  t.equal(await beginUpload(workspace, `${MULTIPART}\r\nContent-Length: ${10 * LIMIT}`, start), 413);
  t.equal(await beginUpload(workspace, `${MULTIPART}\r\nTransfer-Encoding: chunked`, chunk), 413);
  await isFree(t, workspace);
});

t.test('a raw body over the limit is refused while its client waits without sending the rest', async (t) => {
  const workspace = await agent.rent();
  t.equal(await beginUpload(workspace, `Content-Length: ${10 * LIMIT}`, TOO_MUCH), 413);
  await isFree(t, workspace);
});

t.test('a client that leaves in the middle of a multipart file leaves nothing behind', async (t) => {
  const workspace = await agent.rent();
  const socket = connect(server.port, server.host);
  socket.write(headOf(workspace, `${MULTIPART}\r\nContent-Length: 60000`) + START);
  while ((await readdir(incoming)).length === 0);
  socket.destroy();
  while ((await readdir(incoming)).length > 0);
  await isFree(t, workspace);
});

t.test('an upload that drips ends when its workspace does, before the receipt is signed', async (t) => {
  const workspace = await agent.rent();
  const answer = beginUpload(workspace, `${MULTIPART}\r\nContent-Length: 60000`, START);
  while ((await readdir(incoming)).length === 0);
  t.equal((await workspace.send('DELETE', '')).status, 200);
  t.same(await readdir(incoming), [], 'nothing of it is on the disk');
  t.equal(await answer, 401);
});

t.test('nobody else may read what the server writes', async (t) => {
  const workspace = await agent.rent();
  await workspace.ingest('tea.txt', 'Green tea is steeped at eighty degrees.');
  for (const name of await readdir(server.dataFolder, { recursive: true })) {
    const { mode } = await stat(join(server.dataFolder, name)).catch(() => ({ mode: 0 }));
    if ((mode & 0o077) !== 0) t.fail(`${name}: ${(mode & 0o777).toString(8)}`);
  }
  t.equal((await workspace.send('DELETE', '')).status, 200);
});

t.test('an upload that cannot be written is answered, not waited for', async (t) => {
  const workspace = await agent.rent();
  await rm(incoming, { recursive: true });
  t.equal((await workspace.ingest('tea.txt', 'words')).status, 500);
  t.equal((await workspace.send('POST', '/ingest', 'words')).status, 500);
  t.equal(await beginUpload(workspace, `${MULTIPART}\r\nContent-Length: 60000`, START), 500);
  t.equal((await workspace.send('DELETE', '')).status, 200);
});
