/** Every type that can be read, and what people call it; archives of such files come last. */
const FILES = {
  'text/plain': 'plain text',
  'text/markdown': 'Markdown',
  'text/html': 'HTML',
  'text/csv': 'CSV',
  'application/xml': 'XML',
  'application/rtf': 'RTF',
  'application/pdf': 'PDF',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PPTX',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLSX',
  'application/vnd.oasis.opendocument.text': 'ODT',
  'application/vnd.oasis.opendocument.presentation': 'ODP',
  'application/vnd.oasis.opendocument.spreadsheet': 'ODS',
  'application/epub+zip': 'EPUB',
  'message/rfc822': 'EML',
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/webp': 'WebP',
  'image/gif': 'GIF',
  'image/tiff': 'TIFF',
  'image/avif': 'AVIF',
  'image/svg+xml': 'SVG',
  'image/bmp': 'uncompressed BMP',
  'video/mp4': 'MP4',
  'video/quicktime': 'MOV',
  'video/webm': 'WebM',
  'video/matroska': 'MKV',
  'video/vnd.avi': 'AVI',
  'audio/wav': 'WAV',
  'audio/mpeg': 'MP3',
  'audio/flac': 'FLAC',
  'audio/ogg': 'OGG, Opus',
  'audio/mp4': 'M4A',
} as const;
const ARCHIVES = {
  'application/zip': 'zip',
  'application/x-tar': 'tar',
  'application/gzip': 'tar.gz',
} as const;

/** As a refusal lists them for programs. */
export const READABLE_TYPES: readonly string[] = [...Object.keys(FILES), ...Object.keys(ARCHIVES)];

/** The same for people. */
export const READABLE_NAMES = `${[...new Set(Object.values(FILES))].join(', ')}, or a ${Object.values(ARCHIVES).join(', ')} of such files`;
