import type { Hit } from '../../../client/index.ts';
import { FAMILY_TABLE } from '../../../domain/family.ts';
import { formatShare } from '../../model/format.ts';

/** Which family found a hit, and how likely it answers. */
export function Confidence({ hit: { family, confidence } }: { hit: Pick<Hit, 'family' | 'confidence'> }) {
  return (
    <p class="sureness" data-family={family}>
      <span class="family" title={FAMILY_TABLE[family]?.finds}>
        {FAMILY_TABLE[family]?.label ?? family}
      </span>
      <meter min={0} max={1} value={confidence} aria-label="Confidence" />
      <span class="figure" title="How likely it is that this hit answers">
        {formatShare(confidence)}
      </span>
    </p>
  );
}
