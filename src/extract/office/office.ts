import { FarthingError } from '../../domain/error.ts';
import { packageType } from '../archive/package-type.ts';
import { Zip } from '../archive/zip.ts';
import { embeddedPictures } from '../picture/embedded.ts';
import { giveBlocks } from '../reading/blocks.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import type { OfficeContent } from './office-content.ts';

/** An OLE compound file, as older office programs write it. */
const COMPOUND_START = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/** A format that is a package: a zip of parts. All of it is read when it is opened: damage is found before anybody pays. */
export function officeReader(read: (zip: Zip) => OfficeContent): MakeReader {
  return (mediaType) => ({
    sniff: (file) => {
      if (file.find(isEncryptedPackage))
        throw new FarthingError('file_encrypted', 'The document has a password. Remove the password and send it again.');
      return file.find(packageType) === mediaType;
    },
    open: ({ bytes }) => {
      const { blocks, title, pages, pageKind, pictures } = read(new Zip(bytes));
      if (blocks.length === 0 && pictures.length === 0)
        throw new FarthingError('file_empty', 'The file holds no text and no pictures.');
      return {
        kind: 'document',
        mediaType,
        ...(pages !== undefined && pageKind && { pages, pageKind }),
        ...(title !== undefined && { title }),
      };
    },
    read: async ({ bytes }, { limits, pictureSpec }, sink) => {
      const { blocks, pictures, title } = read(new Zip(bytes));
      await giveBlocks(blocks, limits, sink);
      for (const picture of await embeddedPictures(pictures, limits, pictureSpec))
        await sink.picture(picture);
      return { title };
    },
  });
}

/** A document that a password encrypts is a compound file with a stream of this name (MS-OFFCRYPTO 1.3.2). */
function isEncryptedPackage(bytes: Uint8Array): boolean {
  if (!COMPOUND_START.every((byte, at) => bytes[at] === byte)) return false;
  const name = Buffer.from('EncryptedPackage', 'utf16le');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(name);
}
