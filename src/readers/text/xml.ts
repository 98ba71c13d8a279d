import { SaxesParser } from 'saxes';
import { corrupt } from '../reading/refusal.ts';

export interface XmlVisitor {
  /** True to skip an element with everything in it. */
  skips?(name: string, fullName: string): boolean;
  /** @param name without prefix, as in `attributes` @param fullName with prefix */
  open?(name: string, attributes: Readonly<Record<string, string>>, fullName: string): void;
  text?(text: string): void;
  close?(name: string, fullName: string): void;
}

/** No office program nests as deep. */
const DEPTH_MAX = 1_000;

/**
 * Walks through XML. Entities of the document are not expanded, and nothing that it refers to is read: no bomb goes off and no
 * other file gets in. @throws file_corrupt.
 */
export function walkXml(source: string, visitor: XmlVisitor, part = 'a part'): void {
  const parser = new SaxesParser();
  const path: string[] = [];
  let failure: Error | undefined;
  /** Depth of the element that is being skipped; 0 for none. */
  let skippedFrom = 0;
  parser.on('error', (error) => {
    // Unknown entities stay as they are written. Anything else is damage.
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
