import type { Hit } from '@farthing/client';
import { FAMILY_TABLE } from '@farthing/protocol/family';
import { formatShare } from '../../model/figures/format.ts';

interface ConfidenceProps {
  readonly hit: Pick<Hit, 'family' | 'confidence' | 'likeness'>;
}

/** A hit's family and confidence. For a search by picture also its likeness. */
export function Confidence({ hit: { family, confidence, likeness } }: ConfidenceProps) {
  return (
    <p class="sureness" data-family={family}>
      <span class="family" title={FAMILY_TABLE[family]?.finds}>
        {FAMILY_TABLE[family]?.label ?? family}
      </span>
      <meter min={0} max={1} value={confidence} aria-label="Confidence" />
      <span class="figure" title="How likely it is that this hit answers">
        {formatShare(confidence)}
      </span>
      {likeness !== undefined && (
        <span
          class="figure"
          title="How alike the two pictures look; the first figure is how likely they are the same"
        >
          {formatShare(likeness)} alike
        </span>
      )}
    </p>
  );
}
