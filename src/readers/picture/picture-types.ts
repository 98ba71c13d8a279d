/** A format of pictures, and what reads it. */
export interface PictureType {
  readonly mediaType: string;
  readonly name: string;
  /** libvips' name of the format, and of its loader. Absent: bmp.ts reads it. Of HEIC libvips reads the header, and heic.ts pixels. */
  readonly libvips?: { readonly format: string; readonly loader: string };
  /** What file-type calls it, beside the media type. */
  readonly synonyms?: readonly string[];
}

export const PICTURE_TYPES: readonly PictureType[] = [
  { mediaType: 'image/jpeg', name: 'JPEG', libvips: { format: 'jpeg', loader: 'Jpeg' } },
  {
    mediaType: 'image/png',
    name: 'PNG',
    libvips: { format: 'png', loader: 'Png' },
    synonyms: ['image/apng'],
  },
  { mediaType: 'image/webp', name: 'WebP', libvips: { format: 'webp', loader: 'Webp' } },
  { mediaType: 'image/gif', name: 'GIF', libvips: { format: 'gif', loader: 'Nsgif' } },
  { mediaType: 'image/tiff', name: 'TIFF', libvips: { format: 'tiff', loader: 'Tiff' } },
  { mediaType: 'image/avif', name: 'AVIF', libvips: { format: 'heif', loader: 'Heif' } },
  {
    mediaType: 'image/heic',
    name: 'HEIC',
    libvips: { format: 'heif', loader: 'Heif' },
    synonyms: ['image/heif', 'image/heic-sequence', 'image/heif-sequence'],
  },
  { mediaType: 'image/svg+xml', name: 'SVG', libvips: { format: 'svg', loader: 'Svg' } },
  { mediaType: 'image/bmp', name: 'uncompressed BMP' },
];

/** For people. */
export const PICTURE_NAMES = PICTURE_TYPES.map(({ name }) => name).join(', ');
