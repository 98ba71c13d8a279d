import { resolve } from 'node:path';
import sharp from 'sharp';
import { wavOf } from '../engine/encode/rig/wav.ts';
import { zipOf } from '../readers/samples/archives.ts';
import { FILM_SOUND_RATE, writeFilm } from '../readers/samples/films.ts';

const samples = resolve(import.meta.dirname, '../../samples');
export const sample = (name: string) => resolve(samples, name);

/** A file as the driver hands it to a page. */
export interface FileOfTest {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export const odd = (name: string): FileOfTest => ({
  name,
  mimeType: '',
  buffer: Buffer.from(`\x7fELF\x02\x01\x01${name}`.padEnd(200, '\0'), 'latin1'),
});

const paragraphs = [
  'The ferry leaves the harbour at seven in the morning, and again when the tide allows.',
  'Bicycles are carried without charge; cars must be announced a day before the crossing.',
];

/** An office file: it has no picture of its pages. */
export function docx(): FileOfTest {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  const document = `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`;
  return { name: 'ferry.docx', mimeType: '', buffer: zipOf({ 'word/document.xml': document }) };
}

/** Two scenes, each some seconds of a sample picture, in a film that a browser may or may not play. */
export async function film(path: string): Promise<string> {
  const scenes = await Promise.all(
    ['chelsea.png', 'rocket.jpg', 'chelsea.png'].map((name) =>
      sharp(sample(name)).resize(320, 240, { fit: 'cover' }).flatten().jpeg().toBuffer(),
    ),
  );
  const frames = scenes.flatMap((data, scene) =>
    Array.from({ length: 8 }, (_, index) => ({ ms: scene * 4000 + index * 500, data, lasts: 500 })),
  );
  writeFilm(path, 'matroska', {
    width: 320,
    height: 240,
    frames,
    cues: [
      { ms: 0, data: Buffer.from('A tabby looks at you.'), lasts: 3500 },
      { ms: 4000, data: Buffer.from('Lift-off, and the tower is cleared.'), lasts: 3500 },
    ],
  });
  return path;
}

/** A tone of two seconds, as a WAV file. */
export function tone(): FileOfTest {
  const samplesCount = 2 * FILM_SOUND_RATE;
  const data = Buffer.alloc(2 * samplesCount);
  for (let at = 0; at < samplesCount; at++)
    data.writeInt16LE(Math.round(9000 * Math.sin((at * 2 * Math.PI * 440) / FILM_SOUND_RATE)), 2 * at);
  return { name: 'tone.wav', mimeType: 'audio/wav', buffer: wavOf(data, FILM_SOUND_RATE) };
}
