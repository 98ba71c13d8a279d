import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const docs = resolve(import.meta.dirname, '../../docs');

/** Code blocks of one language in a document, in order, with this server's address instead of the usual one. */
export function docBlocks(file: string, language: string, url: string): string[] {
  const content = readFileSync(join(docs, file), 'utf8');
  const found = [...content.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))];
  return found.map(([, code]) => code!.replaceAll('http://127.0.0.1:8402', url));
}
