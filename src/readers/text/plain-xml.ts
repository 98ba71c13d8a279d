import { inflateRawSync } from 'node:zlib';
import { FarthingError } from '@farthing/protocol/error';
import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { isData } from './encoded-data.ts';
import { readTags } from './html.ts';
import { Outline } from './outline.ts';
import { type TextContents, textReader } from './text-format.ts';
import { walkXml } from './xml.ts';

export const plainXml = textReader({
  looksLike: ({ start, text }) => /^<\?xml\s/.test(start) || isElement(start, text),
  read: readXml,
});

/** True for text that is one element from its first character to its last, without a declaration. */
function isElement(start: string, text: string): boolean {
  const name =
    /^(?:<!--[^>]{0,1000}-->\s*|<!DOCTYPE\s[^>[]{0,1000}>\s*)*<([A-Za-z_][\w.:-]{0,100})(?=[\s/>])/.exec(
      start,
    )?.[1];
  if (name === undefined) return false;
  return text
    .slice(-name.length - 200)
    .trimEnd()
    .endsWith(`</${name}>`);
}

/** Attributes that point somewhere, or say how something looks. */
const TECHNICAL =
  /^(?:xmlns.*|space|lang|base|id|.*idref|rid|class|style|href|src|role|schemaLocation|noNamespaceSchemaLocation|version|encoding|type|.*-type|.*-style|width|height|x|y|colspan|rowspan|align|valign)$/i;
/** A longer attribute is data, as the points of a shape, unless it has words. */
const ATTRIBUTE_LENGTH_MAX = 300;
/** Marks of letters, as documents' vocabularies have them: they part no words. */
const INLINE =
  /^(?:a|b|bold|code|em|emph|emphasis|ext-link|fn|font|hi|i|inline-formula|italic|mark|monospace|named-content|q|ref|s|sc|small|span|strong|styled-content|sub|subscript|sup|superscript|tt|u|underline|uri|xref)$/i;
const HEADED = /^(?:sec|section|chapter|part|appendix|sect[1-5]|app|ack|ref-list)$/;
/** A longer one is a paragraph. */
const TITLE_LENGTH_MAX = 300;

/**
 * XML of any kind: each element's text as a paragraph, with the attributes that say something. An element amid text is a part of
 * its paragraph. The first `title` or `article-title` is the title, that of a section its heading. What is no XML any more is read
 * tag by tag.
 */
export function readXml(source: string): TextContents {
  try {
    return readElements(source.trimStart());
  } catch (error) {
    if (!(error instanceof FarthingError) || error.code !== 'file_corrupt') throw error;
    const { notRead = [], ...contents } = readTags(source);
    return { ...contents, notRead: addNotRead(notRead, { what: 'markup', why: 'damaged' }) };
  }
}

function readElements(source: string): TextContents {
  const path: string[] = [];
  let title: string | undefined;
  const paragraphs: { text: string; level?: number }[] = [];
  let text = '';
  let notRead: readonly NotRead[] = [];
  /** The element that has just ended, which text behind it goes on. */
  let ended: string | undefined;
  const flush = (): void => {
    const line = text.replace(/\s+/g, ' ').trim();
    const name = ended;
    text = '';
    ended = undefined;
    if (line === '') return;
    const drawing = name === 'diagram' ? drawnIn(line) : undefined;
    if (drawing !== undefined) {
      paragraphs.push({ text: drawing });
      return;
    }
    if (isData(line)) {
      notRead = addNotRead(notRead, { what: 'encoded_data', count: 1, why: 'unsupported' });
      return;
    }
    const parent = path.at(-1) ?? '';
    if (
      title === undefined &&
      (name === 'title' || name === 'article-title') &&
      line.length <= TITLE_LENGTH_MAX
    )
      title = line;
    else if (name === 'title' && HEADED.test(parent))
      paragraphs.push({ text: line, level: 1 + path.filter((step) => HEADED.test(step)).length });
    else paragraphs.push({ text: line });
  };
  walkXml(source, {
    open: (name, attributes) => {
      // Words before it, or a mark beside a mark: it stands amid a paragraph.
      const isBesideMark = ended !== undefined && INLINE.test(ended) && INLINE.test(name);
      if ((ended !== undefined && !isBesideMark) || text.trim() === '') flush();
      else if (!INLINE.test(name)) text += ' ';
      path.push(name);
      const said = Object.entries(attributes).filter(
        ([key, value]) =>
          !TECHNICAL.test(key) &&
          /[\p{L}\p{N}]/u.test(value) &&
          (value.length <= ATTRIBUTE_LENGTH_MAX || (/\p{L}{3}/u.test(value) && !isData(value))),
      );
      const label = LABELLED.test(name) ? labelOf(attributes) : undefined;
      if (label !== undefined) paragraphs.push({ text: label });
      else if (said.length > 0 && text.trim() === '')
        paragraphs.push({ text: said.map(([key, value]) => `${key}: ${value}`).join(', ') });
    },
    text: (more) => {
      if (/\S/.test(more)) ended = undefined;
      text += more;
    },
    close: (name) => {
      path.pop();
      // An element that ends without text of its own since the last end: that one was the last of its parent.
      if (ended !== undefined) flush();
      if (text.trim() === '') return;
      ended = name;
      if (!INLINE.test(name)) text += ' ';
    },
  });
  flush();
  const outline = new Outline(title);
  for (const { text: words, level } of paragraphs)
    if (level === undefined) outline.paragraph(words);
    else outline.heading(level, words);
  return { ...outline.finish(), notRead };
}

/** Shapes of diagrams (mxGraph), whose labels are attributes in HTML. */
const LABELLED = /^(?:mxCell|UserObject|object)$/;
/** Of a diagram, unpacked. */
const DIAGRAM_BYTES_MAX = 16 * 2 ** 20;

function labelOf({ value, label }: Readonly<Record<string, string>>): string {
  return (value ?? label ?? '')
    .replace(/<[^<>]{0,2000}>/g, ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&(amp|lt|gt|quot);/g, (_all, name: string) => ENTITIES[name]!)
    .replace(/\s+/g, ' ')
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** The labels of a packed diagram, as draw.io keeps them: base64 of deflated, percent-encoded XML. Undefined for other text. */
function drawnIn(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/\s]{8,}={0,2}$/.test(text)) return undefined;
  try {
    const packed = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: DIAGRAM_BYTES_MAX });
    const labels: string[] = [];
    walkXml(decodeURIComponent(packed.toString()), {
      open: (name, attributes) => {
        if (LABELLED.test(name)) labels.push(labelOf(attributes));
      },
    });
    return labels.filter((label) => label !== '').join('\n');
  } catch {
    return undefined;
  }
}
