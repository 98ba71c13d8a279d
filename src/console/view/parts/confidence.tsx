import type { Hit } from '@farthing/client';
import { FAMILY_TABLE } from '@farthing/protocol/family';
import { factsOf } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { VOICE } from '../../model/figures/format.ts';

/** A hit's family, its confidence as a meter, and the figures that its schema shows on the page. */
export function Confidence({ hit }: { readonly hit: Hit }) {
  const { family, confidence } = hit;
  return (
    <p class="sureness" data-family={family}>
      <span class="family" title={FAMILY_TABLE[family]?.finds}>
        {FAMILY_TABLE[family]?.label ?? family}
      </span>
      <meter min={0} max={1} value={confidence} aria-label="Confidence" />
      {factsOf(SHOWN_FIELDS.hit, hit, 'page', VOICE).map(({ name, value, title }) => (
        <span key={name} class="figure" title={title}>
          {value}
        </span>
      ))}
    </p>
  );
}
