import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { deep } from '../../rig/deep.ts';
import type { Misbehaviour } from '../rig/facilitator-server.ts';
import { fivePayers } from '../rig/five-payers.ts';

/** Charges and answers while a facilitator lies about settlements: the second table of docs/facilitator-failures.md. */

const LIES: Readonly<Record<string, Misbehaviour>> = {
  'settles and answers 302': 'settled_302',
  'settles and answers 307': 'settled_307',
  'settles and answers 400': 'settled_400',
  'settles and answers 400 without end': 'settled_400_huge',
  'settles and answers 401': 'settled_401',
  'settles and answers 404': 'settled_404',
  'settles and answers 429': 'settled_429',
  'settles and answers 429 with `Retry-After`': 'settled_429_later',
  'settles and says `insufficient_funds`': 'settled_poor',
  'settles and says `…_payload_signature`': 'settled_signature',
  'settles and says `…_valid_before`': 'settled_expired',
  'settles and says `authorization_already_used`': 'settled_used',
  'settles and names a reverted transaction': 'settled_reverted',
  'says `success: true` and settles nothing': 'never_settled',
  'answers 400 with `success: true` and settles nothing': 'never_settled_400',
  'says `insufficient_funds` of a full purse': 'poor_unsettled',
  'answers 400 and settles nothing': 'bad_request_unsettled',
};

t.setTimeout(600_000);
/** In turn from row to row; each row with both in `make test-deep`. */
const MODES = ['pure', 'effect'] as const;

const CHAINS = { no: undefined, asked: 'asked', 'asked before answers': 'asked before answers' } as const;

/** Rows of the table, by lie and witness. */
const ROWS = new Map(
  [
    ...readFileSync(join(import.meta.dirname, '../../../docs/facilitator-failures.md'), 'utf8').matchAll(
      /^\| (\S.*?) \| (no|asked|asked before answers) \| (.+) \|$/gm,
    ),
  ].map(([, lie, witness, figures]) => [`${lie} | ${witness}`, figures]),
);

for (const [at, [lie, how]] of Object.entries(LIES).entries()) {
  for (const [ask, [witness, chain]] of Object.entries(CHAINS).entries()) {
    for (const mode of deep([MODES[(at + ask) % 2]!], [...MODES])) {
      t.test(`a facilitator that ${lie}, witness ${witness}, ${mode} work: as the table says`, async (t) => {
        const { told, chargedThen, toldAfter, charged, books } = await fivePayers(t, {
          call: 'settle',
          how,
          mode,
          chain,
        });
        const figures = `${told} | ${chargedThen} | ${toldAfter} | ${charged}`;
        t.equal(figures, ROWS.get(`${lie} | ${witness}`) ?? ROWS.get(`${lie} | asked`));
        t.equal(books.pending.count, 0);
        if (chain) t.ok(charged <= 5, 'with a witness nobody is charged twice');
      });
    }
  }
}

t.test('every row of the table is a lie that is told here', async (t) => {
  for (const row of ROWS.keys()) t.ok(row.split(' | ')[0]! in LIES, row);
});
