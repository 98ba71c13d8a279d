import { decompressRTF } from '@kenjiuno/decompressrtf';
import msgreader, { type FieldsData } from '@kenjiuno/msgreader';
import { contentReader } from '../office/office.ts';
import type { Attachment, OfficeContent, Report } from '../office/office-content.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { upTo } from '../reading/up-to.ts';
import { withoutControls } from '../text/charset.ts';
import { readHtml } from '../text/html.ts';
import { checkHtml } from '../text/html-limits.ts';
import { oneLine } from '../text/outline.ts';
import { readPlain } from '../text/plain.ts';
import { readRtf } from '../text/rtf.ts';
import { hasStream } from './compound.ts';

const ATTACHMENTS_MAX = 1_000;

/** A mail as Outlook saves it (MS-OXMSG): its head in words, then its text; attached files are members. */
export const msg: MakeReader = (mediaType) =>
  contentReader(mediaType, {
    sniff: (file) => hasStream(file, ['__properties_version1.0']),
    read: readMsg,
  });

function readMsg({ bytes }: SourceFile, report: Report): OfficeContent {
  const { data, attachments } = parse(bytes, report);
  const title = oneLine(data.subject ?? '');
  const people = (type: string): string =>
    (data.recipients ?? [])
      .filter(({ recipType = 'to' }) => recipType === type)
      .map(({ name = '', smtpAddress, email = '' }) => named(name, smtpAddress ?? email))
      .join(', ');
  const lines = [
    ['From', named(data.senderName ?? '', data.senderSmtpAddress ?? data.senderEmail ?? '')],
    ['To', people('to')],
    ['Cc', people('cc')],
    ['Date', data.messageDeliveryTime ?? data.clientSubmitTime ?? ''],
    ['Subject', title],
    ['Attachments', attachments.map(({ name }) => name).join(', ')],
  ].flatMap(([name, value]) => (value ? [`${name}: ${oneLine(value)}`] : []));
  const body = bodyOf(data);
  const inText = body.title === undefined || body.title === title ? [] : [{ text: body.title }];
  return {
    ...(title !== '' && { title }),
    blocks: [{ text: lines.join('\n') }, ...inText, ...body.blocks]
      .map((block) => ({ ...block, text: withoutControls(block.text) }))
      .filter(({ text }) => text !== ''),
    pictures: [],
    attachments,
  };
}

function named(name: string, address: string): string {
  // Exchange knows its own people by paths.
  const shown = address.startsWith('/') ? '' : address;
  return [name, shown === name ? '' : shown].filter(Boolean).join(' ');
}

/** The plain text where there is one, otherwise HTML, otherwise RTF. */
function bodyOf(data: FieldsData): Pick<OfficeContent, 'title' | 'blocks'> {
  if (data.body?.trim()) return readPlain(data.body.replace(/\r\n?/g, '\n'));
  const html = data.bodyHtml ?? (data.html && decoded(data.html, data.internetCodepage));
  if (html?.trim()) {
    checkHtml(html);
    return readHtml(html);
  }
  if (!data.compressedRtf) return { blocks: [] };
  return readRtf(Buffer.from(decompressRTF([...data.compressedRtf])).toString('latin1'));
}

function decoded(bytes: Uint8Array, codePage = 65001): string {
  try {
    return new TextDecoder(codePage === 65001 ? 'utf-8' : `windows-${codePage}`).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function parse(bytes: Uint8Array, report: Report): { data: FieldsData; attachments: Attachment[] } {
  try {
    const copy = Uint8Array.from(bytes);
    // The package is CommonJS: its default export is a member.
    const reader = new msgreader.default(copy.buffer);
    const data = reader.getFileData();
    const found = (data.attachments ?? []).filter(({ attachmentHidden }) => !attachmentHidden);
    const attachments = upTo(ATTACHMENTS_MAX, found, 'attachments', report).map((attachment) => {
      const { fileName, content } = reader.getAttachment(attachment);
      return { name: fileName || 'attachment', bytes: content };
    });
    return { data, attachments };
  } catch {
    throw corrupt('it is no Outlook mail that can be read');
  }
}
