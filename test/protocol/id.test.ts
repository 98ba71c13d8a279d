import t from 'tap';
import { idFrom, newId, newStepId, parseId, payerTenantId, storedId } from '../../src/protocol/id.ts';

const BITS = '0f'.repeat(16);
const PAYER = payerTenantId(`0x${'aB'.repeat(20)}`);

t.test('an id parses as its kind, and as no other', async (t) => {
  const workspace = newId('workspace');
  const ids = {
    workspace,
    payer: PAYER,
    item: newId('item'),
    job: newId('job'),
    request: newId('request'),
    step: newStepId(workspace),
  };
  const kinds = Object.keys(ids) as (keyof typeof ids)[];
  for (const kind of kinds) {
    for (const other of kinds) {
      const read = parseId(kind, ids[other]);
      t.equal(read, kind === other ? ids[kind] : undefined, `${other} as ${kind}`);
    }
  }
});

t.test('ids keep their stored form', async (t) => {
  t.equal(idFrom('workspace', BITS), `ws_${BITS}`);
  t.equal(idFrom('item', BITS), `item_${BITS}`);
  t.equal(idFrom('job', BITS), `job_${BITS}`);
  t.equal(idFrom('request', BITS), `req_${BITS}`);
  t.equal(PAYER, `payer_0x${'ab'.repeat(20)}`);
  t.match(newStepId(idFrom('workspace', BITS)), new RegExp(`^ws_${BITS}/[0-9a-f]{32}$`));
});

t.test('text of any other form is no id', async (t) => {
  const wrong = [
    '',
    'ws_',
    'ws_1',
    BITS,
    `ws_${BITS}0`,
    `ws_${BITS}\n`,
    ` ws_${BITS}`,
    `WS_${BITS}`,
    `ws_${BITS.toUpperCase()}`,
    `ws_${'g'.repeat(32)}`,
    `ws_${BITS}/${BITS}/${BITS}`,
    `payer_0x${'AB'.repeat(20)}`,
    `payer_${'ab'.repeat(20)}`,
  ];
  for (const text of wrong) {
    for (const kind of ['workspace', 'payer', 'item', 'job', 'request', 'step'] as const)
      t.equal(parseId(kind, text), undefined, `${JSON.stringify(text)} as ${kind}`);
    t.throws(() => storedId('workspace', text), { code: 'internal' });
  }
  t.throws(() => storedId('job', undefined), { code: 'internal' });
});
