import { changeForm } from '../../model/search/search.ts';
import { KINDS, type Kind, type Only, ORDERS, type OrderName } from '../../model/state/asked.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';

/** Fields that restrict a search to some files. Folded until one is used. */
export function OnlyFields() {
  const { form } = useStore(session);
  const { only = {} } = form;
  const set = Object.values(only).filter((value) => value !== undefined).length;
  const change = (changes: Only) => {
    const next = Object.entries({ ...only, ...changes }).filter(([, value]) => value);
    changeForm({ only: next.length === 0 ? undefined : Object.fromEntries(next) });
  };
  return (
    <details class="only">
      <summary>
        Only in some files, and order{' '}
        {set > 0 && <span class="count">{set === 1 ? 'one condition' : `${set} conditions`}</span>}
      </summary>
      <div class="fields">
        <label>
          Name
          <input
            type="text"
            value={only.name ?? ''}
            placeholder="report, *.pdf"
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        </label>
        <label>
          Kind
          <select
            value={only.kind ?? ''}
            onChange={({ currentTarget }) => change({ kind: (currentTarget.value || undefined) as Kind })}
          >
            <option value="">All</option>
            {Object.entries(KINDS).map(([kind, label]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          Added from
          <input
            type="date"
            value={only.from ?? ''}
            onInput={({ currentTarget }) => change({ from: currentTarget.value })}
          />
        </label>
        <label>
          to
          <input
            type="date"
            value={only.to ?? ''}
            onInput={({ currentTarget }) => change({ to: currentTarget.value })}
          />
        </label>
        <label>
          Metadata
          <input
            type="text"
            value={only.field ?? ''}
            placeholder="year=2024"
            onInput={({ currentTarget }) => change({ field: currentTarget.value })}
          />
        </label>
        <label>
          Order
          <select
            value={form.order ?? ''}
            onChange={({ currentTarget }) =>
              changeForm({ order: (currentTarget.value || undefined) as OrderName | undefined })
            }
          >
            <option value="">Likeliest first</option>
            {Object.entries(ORDERS).map(([order, label]) => (
              <option key={order} value={order}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
    </details>
  );
}
