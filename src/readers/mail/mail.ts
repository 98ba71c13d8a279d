import type { Block, ExtractLimits, FileInfo } from '@farthing/protocol/document';
import { addNotRead } from '@farthing/protocol/file/not-read';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { giveAttachments } from '../office/office.ts';
import { giveBlocks } from '../reading/blocks.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import type { MemberSink } from '../reading/sink.ts';
import { readText } from '../text/charset.ts';
import { readHtml } from '../text/html.ts';
import { oneLine } from '../text/outline.ts';
import { readPlain } from '../text/plain.ts';
import type { TextContents } from '../text/text-format.ts';
import { withCharsets } from './mail-charset.ts';

/** Fields of a mail's head (RFC 5322 3.6, RFC 2045), and those that servers add. */
const KNOWN_FIELD =
  /^(from|to|cc|subject|date|message-id|mime-version|received|return-path|delivered-to|reply-to|content-type|x-[\w-]+|dkim-signature|in-reply-to|references|sender)$/i;
const SENDER_FIELDS = ['from', 'date'];
const FIELDS_MIN = 3;
const FIELD = /^([!-9;-~]{1,76}):[ \t]?/;

/** No mail program nests parts as deep. */
const PARSING = { maxNestingDepth: 50, maxRfc822NestingDepth: 2, maxHeadersSize: 2 ** 20 } as const;

/** The parser's time grows with the square of their number. Attachments have a limit of their own. */
const PARTS_MAX = 10_000;
const BOUNDARY = /boundary\s*=\s*(?:"([^"\r\n]{1,200})"|([^\s";]{1,200}))/gi;
const DELIMITER = /^--(.*?)(?:--)?[ \t]*\r?$/gm;

/** A mail is a document, and an archive of its attachments. */
export const mail: MakeReader = (mediaType) => ({
  sniff: (file) => {
    const text = file.find(readText)?.text;
    return text !== undefined && looksLikeMail(text);
  },
  open: ({ bytes }, { limits }) => openMail(bytes, mediaType, limits),
  read: async ({ bytes }, { limits }, sink) => {
    const { title, blocks, notRead = [] } = await readMail(bytes);
    await giveBlocks(blocks, limits, sink);
    for (const { what, why, count } of notRead) sink.notRead(what, why, count);
    return { title };
  },
  unpack: ({ bytes }, { limits }, sink) => unpackMail(bytes, limits, sink),
});

/** True for text that begins with the fields of a mail. */
export function looksLikeMail(text: string): boolean {
  const found = new Set<string>();
  for (const line of text.slice(0, 64 * 1024).split('\n')) {
    if (line.trim() === '') break;
    // White space continues a folded field. A mailbox file puts a "From " line before the fields.
    if (/^[ \t]/.test(line) || (found.size === 0 && /^>?From /.test(line))) continue;
    const field = FIELD.exec(line)?.[1];
    if (!field) return false;
    if (KNOWN_FIELD.test(field)) found.add(field.toLowerCase());
  }
  return found.size >= FIELDS_MIN && SENDER_FIELDS.some((field) => found.has(field));
}

async function openMail(bytes: Uint8Array, mediaType: string, limits: ExtractLimits): Promise<FileInfo> {
  const mail = await parse(bytes);
  const attached = attachmentsOf(mail);
  if (attached.length > limits.archiveMembersMax)
    throw tooLarge(`Send mails of at most ${limits.archiveMembersMax} attachments.`, {
      limit_members: limits.archiveMembersMax,
    });
  const title = titleOf(mail);
  const membersBytes = attached.reduce((sum, attachment) => sum + contentOf(attachment).length, 0);
  return {
    kind: 'document',
    mediaType,
    ...(title !== undefined && { title }),
    ...(attached.length > 0 && { members: attached.length, membersBytes }),
  };
}

/** The head in words, then the text: the plain version where there is one, and the HTML where that says more. */
export async function readMail(bytes: Uint8Array): Promise<TextContents> {
  const mail = await parse(bytes);
  const title = titleOf(mail);
  const body = bodyOf(mail);
  const logos = mail.attachments.length - attachmentsOf(mail).length;
  const inText = body.title === undefined || body.title === title ? [] : [{ text: body.title }];
  const lines = [
    ['From', people(mail.from ? [mail.from] : [])],
    ['To', people(mail.to ?? [])],
    ['Cc', people(mail.cc ?? [])],
    ['Date', mail.date ?? ''],
    ['Subject', mail.subject ?? ''],
    ['Attachments', attachmentsOf(mail).map(nameOf).join(', ')],
  ].flatMap(([name, value]) => (value ? [`${name}: ${oneLine(value)}`] : []));
  const blocks = [{ text: lines.join('\n') }, ...inText, ...body.blocks].filter(({ text }) => text !== '');
  return {
    ...(title !== undefined && { title }),
    blocks,
    notRead: addNotRead(
      body.notRead ?? [],
      ...(logos > 0 ? [{ what: 'pictures', count: logos, why: 'left_out' } as const] : []),
      ...(withCharsets(bytes).guessed ? [{ what: 'charset', why: 'guessed' } as const] : []),
    ),
  };
}

/** Share of the HTML's words that its plain version has. With less, that is a stub, or another text. */
const SAME_TEXT_SHARE = 0.5;

function bodyOf({ text = '', html = '' }: Email): TextContents {
  const plain = readPlain(text);
  if (html.trim() === '') return plain;
  if (text.trim() === '') return readHtml(html);
  const page = readHtml(html);
  const known = wordsIn([{ text }]);
  const words = [...wordsIn(page.blocks)];
  const shared = words.filter((word) => known.has(word)).length;
  if (shared >= words.length * SAME_TEXT_SHARE) return plain;
  return { ...page, blocks: [...page.blocks, { text: text.trim() }] };
}

function wordsIn(blocks: readonly Block[]): ReadonlySet<string> {
  return new Set(blocks.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
}

async function unpackMail(bytes: Uint8Array, limits: ExtractLimits, sink: MemberSink): Promise<void> {
  const attached = attachmentsOf(await parse(bytes));
  const files = attached.map((each) => ({ name: nameOf(each), bytes: contentOf(each) }));
  await giveAttachments(files, limits, sink);
}

/** @throws document_too_large for a mail of more parts than any has. */
function checkParts(bytes: Uint8Array): void {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const boundaries = new Set(Array.from(source.matchAll(BOUNDARY), ([, quoted, bare]) => quoted ?? bare));
  let parts = 0;
  for (const [, boundary] of source.matchAll(DELIMITER))
    if (boundaries.has(boundary) && ++parts > PARTS_MAX)
      throw tooLarge(`Send mails of at most ${PARTS_MAX} parts.`, { limit_parts: PARTS_MAX });
}

async function parse(bytes: Uint8Array): Promise<Email> {
  checkParts(bytes);
  try {
    return await PostalMime.parse(withCharsets(bytes).bytes, PARSING);
  } catch {
    throw corrupt('its parts are nested too deep, or are no mail that can be read');
  }
}

/** Without the pictures that belong to the HTML, as the logo of a signature. */
function attachmentsOf({ attachments }: Email): readonly Attachment[] {
  return attachments.filter(
    ({ related, disposition, mimeType }) =>
      !related || disposition === 'attachment' || !mimeType.startsWith('image/'),
  );
}

function contentOf({ content }: Attachment): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
}

function nameOf({ filename, mimeType }: Attachment): string {
  return filename || mimeType.replace('/', '.');
}

function people(addresses: readonly Address[]): string {
  return addresses
    .map(({ name, address, group }) =>
      group ? `${name}: ${people(group)}` : [name, address].filter(Boolean).join(' '),
    )
    .join(', ');
}

function titleOf({ subject }: Email): string | undefined {
  const title = oneLine(subject ?? '');
  return title === '' ? undefined : title;
}
