import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import type { Block, ExtractLimits, FileInfo } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { MemberSink } from '../process/program.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { readHtml } from '../text/html.ts';
import { shorten } from '../text/outline.ts';
import { readPlain } from '../text/plain.ts';

export const MAIL_TYPE = 'message/rfc822';

const TITLE_LENGTH_MAX = 300;
/** Fields that a mail begins with (RFC 5322 3.6, RFC 2045, and those that servers put before). */
const KNOWN_FIELD =
  /^(from|to|cc|subject|date|message-id|mime-version|received|return-path|delivered-to|reply-to|content-type|x-[\w-]+|dkim-signature|in-reply-to|references|sender)$/i;
const OWN_FIELDS = ['from', 'date'];
const FIELDS_MIN = 3;
const FIELD = /^([!-9;-~]{1,76}):[ \t]?/;
const PIECE_BYTES = 256 * 1024;

/** Deeper than any program nests the parts of a mail. */
const PARSING = { maxNestingDepth: 50, maxRfc822NestingDepth: 2, maxHeadersSize: 2 ** 20 } as const;

/** True for text that begins with the fields of a mail. */
export function looksLikeMail(text: string): boolean {
  const found = new Set<string>();
  for (const line of text.slice(0, 64 * 1024).split('\n')) {
    if (line.trim() === '') break;
    // A folded field goes on with white space; mail boxes put a line of their own before.
    if (/^[ \t]/.test(line) || (found.size === 0 && /^>?From /.test(line))) continue;
    const field = FIELD.exec(line)?.[1];
    if (!field) return false;
    if (KNOWN_FIELD.test(field)) found.add(field.toLowerCase());
  }
  return found.size >= FIELDS_MIN && OWN_FIELDS.some((field) => found.has(field));
}

/** @throws file_corrupt, document_too_large. */
export async function openMail(bytes: Uint8Array, limits: ExtractLimits): Promise<FileInfo> {
  const mail = await parsed(bytes);
  const attached = attachmentsOf(mail);
  if (attached.length > limits.archiveMembersMax)
    throw tooLarge(`Send mails of at most ${limits.archiveMembersMax} attachments.`, {
      limit_members: limits.archiveMembersMax,
    });
  const title = titleOf(mail);
  const membersBytes = attached.reduce((sum, one) => sum + contentOf(one).length, 0);
  return {
    kind: 'document',
    mediaType: MAIL_TYPE,
    ...(title !== undefined && { title }),
    ...(attached.length > 0 && { members: attached.length, membersBytes }),
  };
}

/** Who wrote to whom, when, and the text: of the plain version where there is one, otherwise of the HTML. */
export async function readMail(bytes: Uint8Array): Promise<{ title?: string; blocks: Block[] }> {
  const mail = await parsed(bytes);
  const title = titleOf(mail);
  const body = mail.text?.trim() ? readPlain(`${mail.text}`) : readHtml(mail.html ?? '');
  const inText = body.title === undefined || body.title === title ? [] : [{ text: body.title }];
  const lines = [
    ['From', people(mail.from ? [mail.from] : [])],
    ['To', people(mail.to ?? [])],
    ['Cc', people(mail.cc ?? [])],
    ['Date', mail.date ?? ''],
    ['Subject', mail.subject ?? ''],
    ['Attachments', attachmentsOf(mail).map(nameOf).join(', ')],
  ].flatMap(([name, value]) => (value ? [`${name}: ${shorten(value, 1_000)}`] : []));
  const blocks = [{ text: lines.join('\n') }, ...inText, ...body.blocks].filter(({ text }) => text !== '');
  return { ...(title !== undefined && { title }), blocks };
}

/** Gives the attachments to the sink. @throws file_corrupt. */
export async function unpackMail(bytes: Uint8Array, limits: ExtractLimits, sink: MemberSink): Promise<void> {
  for (const attachment of attachmentsOf(await parsed(bytes))) {
    const content = contentOf(attachment);
    await sink.begin(nameOf(attachment));
    if (content.length > limits.bytesMax) {
      await sink.end(new FarthingError('file_too_large', `An attachment may have ${limits.bytesMax} bytes.`));
      continue;
    }
    for (let at = 0; at < content.length; at += PIECE_BYTES)
      await sink.piece(content.subarray(at, at + PIECE_BYTES));
    await sink.end();
  }
}

async function parsed(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, PARSING);
  } catch {
    throw corrupt('its parts are nested too deep, or are no mail that can be read');
  }
}

/** Pictures that only serve the looks of the HTML (a logo in a signature) are none. */
function attachmentsOf({ attachments }: Email): readonly Attachment[] {
  return attachments.filter((one) => !(one.related && one.disposition !== 'attachment'));
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
  const title = shorten(subject ?? '', TITLE_LENGTH_MAX);
  return title === '' ? undefined : title;
}
