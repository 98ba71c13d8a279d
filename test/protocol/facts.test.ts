import t from 'tap';
import { VOICE as TERMINAL } from '../../src/cli/terminal/figures.ts';
import { VOICE as PAGE } from '../../src/console/model/figures/format.ts';
import { factsLine } from '../../src/mcp/results.ts';
import { factsOf, type ShownField } from '../../src/protocol/schema/facts.ts';
import { SHOWN_FIELDS } from '../../src/protocol/schema/shown-fields.ts';

/** A value of each kind that is neither a text nor a number. */
const VALUES: Readonly<Record<string, unknown>> = {
  median: { p50: 4.2, p95: 9, p99: 12 },
  moments: [{ time_s: 61, confidence: 0.5 }],
  not_read: [{ what: 'speech', why: 'unsupported', count: 1 }],
  usd: '0.5',
  time: '2026-03-01T10:00:00Z',
  text: 'word',
};

function recordOf(fields: readonly ShownField[]): object {
  return Object.fromEntries(
    fields.map(({ name, as = 'text', fields: inner }) => [
      name,
      inner && as === 'text' ? recordOf(inner) : (VALUES[as] ?? 7),
    ]),
  );
}

t.test('each surface has words for every kind of value that it shows', async (t) => {
  for (const [name, fields] of Object.entries(SHOWN_FIELDS)) {
    const record = recordOf(fields);
    const shown = {
      page: factsOf(fields, record, 'page', PAGE),
      terminal: factsOf(fields, record, 'terminal', TERMINAL),
      line: factsLine(fields, record),
    };
    t.notMatch(JSON.stringify(shown), /\[object|undefined|NaN/, name);
  }
});
