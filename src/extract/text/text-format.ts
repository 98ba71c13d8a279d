import type { Block } from '../../domain/document.ts';
import { csvSeparator, readCsv } from './csv.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readPlain } from './plain.ts';
import { readXml } from './plain-xml.ts';
import { readRtf } from './rtf.ts';

export type ReadText = (text: string) => { title?: string; blocks: Block[] };

/** What reads each type of text. */
export const TEXT_READERS = {
  'text/plain': readPlain,
  'text/markdown': readMarkdown,
  'text/html': readHtml,
  'text/csv': (text) => readCsv(text, csvSeparator(text) ?? ','),
  'application/rtf': readRtf,
  'application/xml': readXml,
} as const satisfies Readonly<Record<string, ReadText>>;
