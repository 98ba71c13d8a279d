import { SaxesParser } from 'saxes';
import { corrupt } from '../reading/refusal.ts';

export interface XmlVisitor {
  /** True for an element that is passed over, with all that is in it. */
  skips?(name: string, fullName: string): boolean;
  /** `name` without its prefix, and as it is written; attributes by their names without prefix. */
  open?(name: string, attributes: Readonly<Record<string, string>>, fullName: string): void;
  text?(text: string): void;
  close?(name: string, fullName: string): void;
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
  /** How deep the element lies that is passed over; 0 for none. */
  let skippedFrom = 0;
  parser.on('error', (error) => {
    // An unknown entity is left out; anything else is damage.
    if (!/undefined entity|undeclared namespace/i.test(error.message)) failure ??= error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    path.push(name);
    if (path.length > DEPTH_MAX) failure ??= new Error('too deep');
    if (skippedFrom === 0 && visitor.skips?.(local(name), name)) skippedFrom = path.length;
    if (skippedFrom > 0) return;
    visitor.open?.(
      local(name),
      Object.fromEntries(Object.entries(attributes).map(([key, value]) => [local(key), value])),
      name,
    );
  });
  const take = (text: string): void => {
    if (skippedFrom === 0) visitor.text?.(text);
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', ({ name }) => {
    const depth = path.length;
    path.pop();
    if (skippedFrom === 0) visitor.close?.(local(name), name);
    else if (depth === skippedFrom) skippedFrom = 0;
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
