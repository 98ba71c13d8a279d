import { SaxesParser } from 'saxes';
import { corrupt } from './refusal.ts';

export interface XmlVisitor {
  /** `name` without its prefix, and as it is written; attributes by their names without prefix. */
  open?(name: string, attributes: Readonly<Record<string, string>>, fullName: string): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Deeper than any office program writes. */
const DEPTH_MAX = 1_000;

/**
 * Walks through XML. Entities that the document itself defines are not known and nothing that it refers to is read: neither bombs nor
 * foreign files come out of it. @throws file_corrupt.
 */
export function walkXml(source: string, visitor: XmlVisitor, part = 'a part'): void {
  const parser = new SaxesParser();
  const path: string[] = [];
  let failure: Error | undefined;
  parser.on('error', (error) => {
    // An unknown entity is left out; anything else is damage.
    if (!/undefined entity|undeclared namespace/i.test(error.message)) failure ??= error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    path.push(name);
    if (path.length > DEPTH_MAX) failure ??= new Error('too deep');
    visitor.open?.(
      local(name),
      Object.fromEntries(Object.entries(attributes).map(([key, value]) => [local(key), value])),
      name,
    );
  });
  parser.on('text', (text) => visitor.text?.(text));
  parser.on('cdata', (text) => visitor.text?.(text));
  parser.on('closetag', ({ name }) => {
    path.pop();
    visitor.close?.(local(name));
  });
  for (let at = 0; at < source.length && !failure; at += PIECE_LENGTH)
    parser.write(source.slice(at, at + PIECE_LENGTH));
  if (!failure) parser.close();
  if (failure) throw corrupt(`${part} of it is no XML that can be read`);
}

const PIECE_LENGTH = 64 * 1024;

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
