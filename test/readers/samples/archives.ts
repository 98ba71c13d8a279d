import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A zip of these files, with their names unchanged. */
export function zipOf(files: Files): Buffer {
  return Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([name, content]) => [name, bytesOf(content)]))),
  );
}

/** A tar archive of these files, with pax headers for long names. */
export function tarOf(files: Files): Buffer {
  const parts = Object.entries(files).flatMap(([name, content]) => {
    const bytes = bytesOf(content);
    const long = Buffer.byteLength(name) > 99;
    return [
      ...(long ? [tarHeader('pax', paxPath(name).length, 'x'), padded(paxPath(name))] : []),
      tarHeader(long ? name.slice(0, 99) : name, bytes.length, '0'),
      padded(bytes),
    ];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

export function tarGzOf(files: Files): Buffer {
  return gzipSync(tarOf(files));
}

/** One header block (POSIX ustar). */
export function tarHeader(name: string, bytes: number, type: string, linksTo = ''): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100, 'utf8');
  header.write('0000644\0', 100);
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(linksTo, 157, 100, 'utf8');
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function paxPath(name: string): Buffer {
  const rest = ` path=${name}\n`;
  const length = Buffer.byteLength(rest);
  let digits = 1;
  while (String(length + digits).length > digits) digits++;
  return Buffer.from(`${length + digits}${rest}`);
}

function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? strToU8(content) : content;
}
