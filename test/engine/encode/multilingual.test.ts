import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Encoder } from '../../../src/engine/encode/encoder.ts';
import { Library } from '../../../src/engine/encode/models/library.ts';
import { servedLists } from '../../../src/engine/search/lists.ts';
import { CACHE, cosine, MODELS, openEmbedded } from './rig/embedded.ts';
import { folderOf } from './rig/other-models.ts';
import '../../rig/teardown-order.ts';

const NAME = 'multilingual-e5-small';
const weights = join(MODELS, NAME, 'model_q4.onnx');
const skip = existsSync(weights) ? false : `${weights} is not here: build.py beside it makes it`;
const tenant = 'ws_test';

/** Each about something else, in another language. */
const PASSAGES = {
  tides: 'The tides follow the moon: twice a day the water of the harbour rises and falls by four metres.',
  bread: 'Der Teig für das Roggenbrot ruht über Nacht und wird bei 240 Grad gebacken.',
  tenancy: 'El inquilino debe avisar al propietario con dos meses de antelación antes de dejar la vivienda.',
  bees: 'In inverno le api formano un grappolo attorno alla regina e si scaldano muovendo i muscoli.',
  railway: 'Поезд из Москвы во Владивосток идёт семь дней и пересекает восемь часовых поясов.',
  tea: '緑茶は八十度の湯で一分ほど蒸らすと、苦味が少なく甘みが出る。',
  quake: '地震发生时应躲在结实的桌子下面，远离窗户，等摇晃停止后再离开建筑物。',
};

/** None in the language of what answers it. */
const QUESTIONS: readonly (readonly [question: string, answer: keyof typeof PASSAGES])[] = [
  ['Warum steigt und fällt das Wasser im Hafen?', 'tides'],
  ['¿Por qué sube y baja el agua del puerto?', 'tides'],
  ['How hot must the oven be for rye bread?', 'bread'],
  ['При какой температуре пекут ржаной хлеб?', 'bread'],
  ['How long before moving out does a renter have to give notice?', 'tenancy'],
  ['Wie lange ist die Kündigungsfrist für Mieter?', 'tenancy'],
  ['How do bees keep warm in winter?', 'bees'],
  ['How many days does the train across Siberia take?', 'railway'],
  ['Quanti giorni dura il viaggio in treno fino a Vladivostok?', 'railway'],
  ['At what temperature should green tea be brewed?', 'tea'],
  ['泡绿茶用多热的水', 'tea'],
  ['What should I do during an earthquake?', 'quake'],
  ['Was tun bei einem Erdbeben?', 'quake'],
];

t.test('the model in use after one command finds answers across languages', { skip }, async (t) => {
  const folder = t.testdir({});
  await folderOf(folder, [], { text_semantic: 'all-MiniLM-L6-v2' });
  const library = new Library(folder, CACHE);
  t.match(await library.use(NAME), { name: NAME, used: true, installed: true, measured: true });

  const encoder = await openEmbedded({ modelsFolder: folder });
  t.teardown(() => encoder.close());
  const [space] = encoder.spaces;
  t.match(space, { name: 'text_semantic', weights: /multilingual-e5-small \(model_q4\.onnx on native\)/ });
  const { languages } = servedLists(encoder).get('text_semantic')!;
  for (const language of ['eng', 'deu', 'spa', 'ita', 'rus', 'jpn', 'cmn'])
    t.ok(languages?.includes(language), `${language} is no foreign language to it`);

  const answers = Object.keys(PASSAGES);
  const rows = (await encoder.encodeIngest('text', Object.values(PASSAGES), { tenant })).text_semantic!;
  for (const [question, answer] of QUESTIONS) {
    const query = await vectorOf(encoder, question);
    const likest = rows.map((row) => cosine(row, query));
    t.equal(answers[likest.indexOf(Math.max(...likest))], answer, question);
  }
});

async function vectorOf(encoder: Encoder, question: string): Promise<Float32Array> {
  return (await encoder.encodeQuery('text', question, { tenant })).text_semantic!;
}
