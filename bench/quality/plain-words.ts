import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cargo } from '../../scripts/cargo.ts';
import { native } from '../../src/native/index.ts';
import type { BeirDocument } from '../sets/beir.ts';

const run = promisify(execFile);
/** Documents by whose texts the set's language is recognised. */
const READ_MAX = 50;

/**
 * nDCG@10 of the words index and of a plain BM25 with the stems of the set's language, over whole documents: the native example
 * `words_quality` runs both. Undefined where the language is uncertain.
 */
export async function besidePlainBm25(folder: string, documents: readonly BeirDocument[]) {
  const text = documents
    .slice(0, READ_MAX)
    .map((document) => document.text)
    .join('\n');
  const detected = native.detectLanguage(text);
  if (!detected?.reliable) return undefined;
  const { stdout } = await run(await builtExample(), [`${folder}=${detected.language}`]);
  const gainOf = (name: string) => Number(new RegExp(`^ +${name} +nDCG@10 ([\\d.]+)`, 'm').exec(stdout)?.[1]);
  return { language: detected.language, words: gainOf('raw'), plain_bm25: gainOf('plain BM25') };
}

/** Path of the program, compiled if need be. */
async function builtExample(): Promise<string> {
  const [program, ...words] = cargo(
    'build',
    '--quiet',
    '--example',
    'words_quality',
    '--message-format=json',
  );
  const { stdout } = await run(program!, words, { maxBuffer: 2 ** 26 });
  return /"executable":"([^"]+)"/.exec(stdout)![1]!;
}
