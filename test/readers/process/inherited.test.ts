import { readdirSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';
import { children } from './children.ts';

/** Files that a process has open; none of a process that has ended. */
function openFiles(pid: string | number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

t.test('processes that read strangers’ files hold none of the server’s', async (t) => {
  const server = await startTestServer(t);
  const workspace = await new TestAgent(server.url).rent();
  // The index is open when the process for recordings starts.
  t.match(await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls.'), { status: 200 });
  const noise = new Uint8Array(44 + 16_000);
  noise.set(wavHeader(16_000));
  t.match(await workspace.ingest('silence.wav', noise), { status: 200 });
  t.ok(
    openFiles('self').some((path) => path.endsWith('data.mdb')),
    'the server has its files open',
  );
  const held = children().flatMap(openFiles);
  t.ok(held.length > 0, 'there are such processes');
  t.same(
    held.filter((path) => /\.mdb|\(deleted\)/.test(path)),
    [],
  );
});

/** Mono, 8,000 samples a second, 16 bits. */
function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(16_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
