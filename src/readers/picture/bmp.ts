/** Pixels of a picture: eight bits for each of red, green, blue, and alpha where `channels` is 4. */
export interface RawPicture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
}

export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly topDown: boolean;
  readonly bitsPerPixel: number;
  readonly masks: readonly [red: number, green: number, blue: number, alpha: number] | undefined;
  readonly palette: { readonly offset: number; readonly colours: number; readonly entryBytes: number };
  readonly pixelOffset: number;
}

const UNCOMPRESSED = 0;
const BIT_FIELDS = 3;
const ALPHA_BIT_FIELDS = 6;

/**
 * Header of an uncompressed BMP of 1, 4, 8, 16, 24 or 32 bits ("BITMAPFILEHEADER" and its info headers of 12 to 124
 * bytes, Windows GDI reference). @throws RangeError when it is damaged or compressed.
 */
export function readBmpHeader(bytes: Uint8Array): BmpHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 26 || view.getUint16(0) !== 0x424d) throw new RangeError('no BMP header');
  const infoBytes = view.getUint32(14, true);
  const isCore = infoBytes === 12;
  if (!isCore && (infoBytes < 40 || infoBytes > 124)) throw new RangeError('an unknown BMP header');
  if (14 + infoBytes > bytes.length) throw new RangeError('a truncated BMP header');
  const width = isCore ? view.getUint16(18, true) : view.getInt32(18, true);
  const signedHeight = isCore ? view.getUint16(20, true) : view.getInt32(22, true);
  const bitsPerPixel = view.getUint16(isCore ? 24 : 28, true);
  const compression = isCore ? UNCOMPRESSED : view.getUint32(30, true);
  const fields = compression === BIT_FIELDS || compression === ALPHA_BIT_FIELDS;
  if (compression !== UNCOMPRESSED && !fields) throw new RangeError('a compressed BMP');
  if (width <= 0 || signedHeight === 0) throw new RangeError('a BMP without pixels');
  if (![1, 4, 8, 16, 24, 32].includes(bitsPerPixel) || (fields && bitsPerPixel < 16))
    throw new RangeError('an unknown BMP depth');
  const masks = fields ? readMasks(view, infoBytes, compression) : defaultMasks(bitsPerPixel);
  const maskBytes = fields && infoBytes === 40 ? (compression === ALPHA_BIT_FIELDS ? 16 : 12) : 0;
  const coloursUsed = isCore ? 0 : view.getUint32(46, true);
  const colours = bitsPerPixel > 8 ? 0 : Math.min(coloursUsed || 2 ** bitsPerPixel, 2 ** bitsPerPixel);
  return {
    width,
    height: Math.abs(signedHeight),
    topDown: signedHeight < 0,
    bitsPerPixel,
    masks,
    palette: { offset: 14 + infoBytes + maskBytes, colours, entryBytes: isCore ? 3 : 4 },
    pixelOffset: view.getUint32(10, true),
  };
}

/** Pixels of an uncompressed BMP. The caller has checked the header's dimensions. @throws RangeError when it is truncated. */
export function decodeBmp(bytes: Uint8Array, header: BmpHeader): RawPicture {
  const { width, height, bitsPerPixel, pixelOffset } = header;
  const rowBytes = Math.floor((bitsPerPixel * width + 31) / 32) * 4;
  if (pixelOffset + rowBytes * height > bytes.length) throw new RangeError('a truncated BMP');
  const channels = header.masks?.[3] ? 4 : 3;
  const data = new Uint8Array(width * height * channels);
  const writeRow = rowWriter(bytes, header, channels);
  for (let row = 0; row < height; row++) {
    const source = pixelOffset + rowBytes * (header.topDown ? row : height - 1 - row);
    writeRow(source, data, row * width * channels);
  }
  return { data, width, height, channels };
}

type RowWriter = (source: number, target: Uint8Array, at: number) => void;

function rowWriter(bytes: Uint8Array, header: BmpHeader, channels: number): RowWriter {
  if (header.bitsPerPixel <= 8) return paletteWriter(bytes, header);
  if (header.masks) return maskWriter(bytes, header, header.masks, channels);
  return (source, target, at) => {
    for (let index = 0; index < header.width * 3; index += 3) {
      target[at + index] = bytes[source + index + 2]!;
      target[at + index + 1] = bytes[source + index + 1]!;
      target[at + index + 2] = bytes[source + index]!;
    }
  };
}

function paletteWriter(bytes: Uint8Array, { width, bitsPerPixel, palette }: BmpHeader): RowWriter {
  if (palette.offset + palette.colours * palette.entryBytes > bytes.length)
    throw new RangeError('a truncated BMP palette');
  const perByte = 8 / bitsPerPixel;
  const mask = 2 ** bitsPerPixel - 1;
  return (source, target, at) => {
    for (let column = 0; column < width; column++) {
      const shift = 8 - bitsPerPixel * ((column % perByte) + 1);
      const colour = (bytes[source + Math.floor(column / perByte)]! >> shift) & mask;
      // An index beyond the palette is black, as in other readers.
      const entry = palette.offset + Math.min(colour, palette.colours) * palette.entryBytes;
      for (let channel = 0; channel < 3; channel++) {
        target[at + column * 3 + channel] = colour < palette.colours ? bytes[entry + 2 - channel]! : 0;
      }
    }
  };
}

function maskWriter(
  bytes: Uint8Array,
  { width, bitsPerPixel }: BmpHeader,
  masks: readonly number[],
  channels: number,
): RowWriter {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scales = masks.map((mask) => {
    const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
    return { mask, shift, most: mask >>> shift || 1 };
  });
  return (source, target, at) => {
    for (let column = 0; column < width; column++) {
      const value =
        bitsPerPixel === 16
          ? view.getUint16(source + column * 2, true)
          : view.getUint32(source + column * 4, true);
      for (let channel = 0; channel < channels; channel++) {
        const { mask, shift, most } = scales[channel]!;
        target[at + column * channels + channel] = Math.round((((value & mask) >>> shift) * 255) / most);
      }
    }
  };
}

function readMasks(view: DataView, infoBytes: number, compression: number): BmpHeader['masks'] {
  const hasAlpha = infoBytes >= 56 || compression === ALPHA_BIT_FIELDS;
  if (view.byteLength < (hasAlpha ? 70 : 66)) throw new RangeError('a truncated BMP header');
  return [
    view.getUint32(54, true),
    view.getUint32(58, true),
    view.getUint32(62, true),
    hasAlpha ? view.getUint32(66, true) : 0,
  ];
}

/** For a header without masks: of 16 bits, five for each colour; of 32 bits, the fourth byte is unused. */
function defaultMasks(bitsPerPixel: number): BmpHeader['masks'] {
  if (bitsPerPixel === 16) return [0x7c00, 0x03e0, 0x001f, 0];
  if (bitsPerPixel === 32) return [0x00ff0000, 0x0000ff00, 0x000000ff, 0];
  return undefined;
}
