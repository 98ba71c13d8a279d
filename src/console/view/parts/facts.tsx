import { factsOf, type ShownField } from '@farthing/protocol/schema/facts';
import { VOICE } from '../../model/figures/format.ts';

interface FactsProps {
  readonly fields: readonly ShownField[];
  readonly record: object;
  readonly class?: string;
}

/** The fields of a record that the page shows, a row each. */
export function Facts({ fields, record, ...rest }: FactsProps) {
  return (
    <dl {...rest}>
      {factsOf(fields, record, 'page', VOICE).map(({ name, label, value, beside, title }) => (
        <div key={name}>
          <dt title={title}>{label[0]!.toUpperCase() + label.slice(1)}</dt>
          <dd>
            <span>{value}</span>
            {beside !== '' && <span class="quiet">{beside}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
