import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { NotRead } from '../../../src/domain/file/not-read.ts';
import { readBytes } from '../../rig/readers.ts';

/** Small files that say in their names what other systems got wrong about them: what must be found, and what is told instead. */
interface Case {
  readonly says?: readonly (string | RegExp)[];
  readonly hides?: readonly string[];
  readonly notRead?: readonly NotRead[];
}

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  docx: {
    'altchunk.docx': { says: ['The Marrowby orchard lost forty trees'] },
    'comments.docx': { says: [/Comment by Tamsin Orrell: Quillon wants this penalty halved/] },
    'document2.docx': { says: ['The Vexelby ferry leaves'] },
    'headerfooter.docx': { says: ['Brunnhofer Kesselbau GmbH', 'Our reference QF-88231'] },
    'hidden.docx': {
      says: ['485,000 crowns'],
      hides: ['one crown'],
      notRead: [{ what: 'hidden_text', count: 1, why: 'hidden' }],
    },
    'nobreakhyphen.docx': { says: ['Spare part KX-4417', 'began 1-24 hours'] },
    'sym.docx': { says: ['40°C', 'Left Right', 'Vertragsstrafe'] },
  },
  xlsx: {
    'capital-shared.xlsx': { says: ['The Pilsworth barge carries slate | 5'] },
    'formula.xlsx': { says: ['Gross: =B2+C2'], notRead: [{ what: 'formulas', count: 1, why: 'no_value' }] },
    'formulas-only.xlsx': {
      says: ['=TODAY() | =1+2'],
      notRead: [{ what: 'formulas', count: 2, why: 'no_value' }],
    },
    'note.xlsx': { says: ['Comment on B1 by Ilse: Disputed by Wexcombe'] },
    'percent.xlsx': { says: ['Yield: 7.50% | Price: $1,234.50', 'Yield: 30.00%'] },
    'phonetic.xlsx': { says: ['品名: 青銅の鐘 | 個数: 41'], hides: ['ヒンメイ'] },
    'phonetic-percent-comment.xlsx': {
      says: ['Share: 25.75%', 'Sum: 0.3', 'Comment on A2 by me: Zymurgy audit pending'],
      notRead: [{ what: 'formulas', count: 2, why: 'no_value' }],
    },
    'titlerow.xlsx': { says: ['Sales of the northern depots', 'Depot: Skarvik | Lanterns: 118 | Ropes: 64'] },
    'tool-openpyxl.xlsx': {
      says: [
        'Rate: 21% | Tax: =B2*C2 | Due: 2026-04-17',
        'Comment on B2 by Clerk: Agreed',
        'Ingleborough drum',
      ],
      notRead: [{ what: 'formulas', count: 1, why: 'no_value' }],
    },
    'x000d.xlsx': { says: ['Delivered to Fennimore Gate three Ring twice'] },
  },
  packages: {
    'chart.pptx': { says: ['Umbrellas sold in Prestwold', '| Spring | 3120'] },
    'smartart.pptx': { says: ['Weigh the Halvard clay', 'Fire it at cone nine'] },
    'fragment.epub': { says: ['Lady Averill hid the ledger in a churn'] },
    'flat.fodt': { says: ['The looms of Ormskirk were stopped.'], hides: ['LU/9IST'] },
  },
};

for (const [folder, cases] of Object.entries(CASES))
  t.test(`${folder}: what a file says is read, what is not read is told`, async (t) => {
    for (const [name, { says = [], hides = [], notRead = [] }] of Object.entries(cases)) {
      const read = await readBytes(readFileSync(join(import.meta.dirname, folder, name)));
      const text = [
        read.title ?? '',
        ...read.blocks.flatMap(({ heading = '', text }) => [heading, text]),
      ].join('\n');
      for (const words of says)
        t.ok(typeof words === 'string' ? text.includes(words) : words.test(text), `${name} says ${words}`, {
          text,
        });
      for (const words of hides) t.notOk(text.includes(words), `${name} does not say ${words}`);
      t.same(read.notRead, notRead, `${name} tells what was not read`);
    }
  });
