import { resolve } from 'node:path';
import { Random } from '../../test/rig/random.ts';
import { readSciFact } from '../sets/scifact.ts';
import { sentencesOf } from './sentences.ts';

const SCIFACT = resolve(import.meta.dirname, '../../../shared/data/text/scifact');
/** Words of a passage: what a model with 256 tokens takes. */
const PASSAGE_WORDS = 150;

/**
 * As many passages as wanted, each of sentences picked at random from all of SciFact's abstracts: real words in their real
 * frequencies, in texts that nobody wrote. The queries are SciFact's claims as they are.
 */
export async function recombinedSciFact(seed: number): Promise<{ passage: () => string; claims: string[] }> {
  const { abstracts, claims } = await readSciFact(SCIFACT);
  const sentences = abstracts.flatMap(({ text }) => sentencesOf(text));
  const counts = sentences.map((sentence) => sentence.split(/\s+/).length);
  const random = new Random(seed);
  const passage = () => {
    const parts: string[] = [];
    for (let words = 0; words < PASSAGE_WORDS; ) {
      const at = random.below(sentences.length);
      parts.push(sentences[at]!);
      words += counts[at]!;
    }
    return parts.join(' ');
  };
  return { passage, claims: claims.map(({ text }) => text) };
}
