import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { packageType } from '../archive/package-type.ts';
import { memberRefusal } from '../archive/unpack-budget.ts';
import { Zip } from '../archive/zip.ts';
import { isCompound } from '../legacy/compound.ts';
import { embeddedPictures } from '../picture/embedded.ts';
import { giveBlocks } from '../reading/blocks.ts';
import type { FormatReader, MakeReader } from '../reading/format-reader.ts';
import { encrypted } from '../reading/refusal.ts';
import { giveBytes, type MemberSink } from '../reading/sink.ts';
import type { SourceFile } from '../reading/source-file.ts';
import type { Attachment, OfficeContent, Report } from './office-content.ts';

/** A format that is a package: a zip of parts. All of it is read when it is opened: damage is found before anybody pays. */
export function officeReader(read: (zip: Zip, report: Report) => OfficeContent): MakeReader {
  return (mediaType) =>
    contentReader(mediaType, {
      sniff: (file) => {
        if (file.find(isEncryptedPackage)) throw encrypted('document');
        return file.find(packageType) === mediaType;
      },
      read: ({ bytes }, report) => read(new Zip(bytes), report),
    });
}

/** A format whose contents are read at one go, when it is opened too: damage is found before anybody pays. */
export function contentReader(
  mediaType: string,
  {
    sniff,
    read,
  }: {
    sniff: FormatReader['sniff'];
    read: (file: SourceFile, report: Report) => OfficeContent | Promise<OfficeContent>;
  },
): FormatReader {
  return {
    sniff,
    open: async (file) => {
      const {
        blocks,
        title,
        pages,
        pageKind,
        pictures,
        attachments = [],
      } = await read(file, () => undefined);
      if (blocks.length === 0 && pictures.length === 0 && attachments.length === 0)
        throw new FarthingError('file_empty', 'The file holds no text and no pictures.');
      return {
        kind: 'document',
        mediaType,
        ...(pages !== undefined && pageKind && { pages, pageKind }),
        ...(title !== undefined && { title }),
        ...(attachments.length > 0 && {
          members: attachments.length,
          membersBytes: attachments.reduce((sum, { bytes }) => sum + bytes.length, 0),
        }),
      };
    },
    read: async (file, { limits, pictureSpec }, sink) => {
      const { blocks, pictures, title } = await read(file, (...unread) => sink.notRead(...unread));
      await giveBlocks(blocks, limits, sink);
      for (const picture of await embeddedPictures(pictures, limits, pictureSpec, sink.notRead))
        await sink.picture(picture);
      return { title };
    },
    unpack: async (file, { limits }, sink) => {
      const { attachments = [] } = await read(file, () => undefined);
      await giveAttachments(attachments, limits, sink);
    },
  };
}

/** Gives files inside a document to the sink. One that is too large is refused alone. */
export async function giveAttachments(
  attachments: readonly Attachment[],
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  for (const { name, bytes } of attachments) {
    await sink.begin(name);
    const refusal = memberRefusal(bytes.length, limits);
    if (!refusal) await giveBytes(bytes, sink);
    await sink.end(refusal);
  }
}

/** A document that a password encrypts is a compound file with a stream of this name (MS-OFFCRYPTO 1.3.2). */
function isEncryptedPackage(bytes: Uint8Array): boolean {
  if (!isCompound(bytes)) return false;
  const name = Buffer.from('EncryptedPackage', 'utf16le');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(name);
}
