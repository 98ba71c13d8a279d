import { memberRefusal, UnpackBudget } from '../archive/unpack-budget.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { giveBytes } from '../reading/sink.ts';
import { readText } from '../text/charset.ts';

/** A line before each mail (RFC 4155): the sender, and a date that ends in a year, or a zone behind it. */
const SEPARATOR = /(?:^|\r?\n\r?\n)From \S[^\r\n]{0,200}\d{4}(?: [+-]\d{4})?[ \t]*\r?\n(?=[!-9;-~]{1,76}:)/g;

/** A mailbox of at least two mails: an archive, each mail a file in it. One mail alone is a mail. */
export const mbox: MakeReader = (mediaType) => ({
  sniff: (file) => /^From \S/.test(file.find(readText)?.text ?? '') && file.find(mailsIn).length > 1,
  open: (file, { limits }) => {
    const budget = new UnpackBudget(limits);
    for (const { from, to } of file.find(mailsIn)) budget.add(to - from);
    return { kind: 'archive', mediaType, ...budget.total() };
  },
  unpack: async (file, { limits }, sink) => {
    for (const [index, { from, to }] of file.find(mailsIn).entries()) {
      await sink.begin(`${String(index + 1).padStart(4, '0')}.eml`);
      const refusal = memberRefusal(to - from, limits);
      if (!refusal) await giveBytes(unquoted(file.bytes.subarray(from, to)), sink);
      await sink.end(refusal);
    }
  },
});

/** Where each mail lies, without the line before it. */
function mailsIn(bytes: Uint8Array): readonly { from: number; to: number }[] {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const marks = Array.from(source.matchAll(SEPARATOR), ({ index, 0: mark }) => ({
    start: index,
    from: index + mark.length,
  }));
  return marks.map(({ from }, at) => ({ from, to: marks[at + 1]?.start ?? source.length }));
}

/** Lines of a mail that begin with "From " were quoted, so that they begin no other mail. */
function unquoted(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!source.includes('\n>From ')) return bytes;
  return Buffer.from(source.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1');
}
