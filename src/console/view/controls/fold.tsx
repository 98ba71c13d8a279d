import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface FoldProps {
  readonly title: string;
  /** Summary while folded. */
  readonly brief: ComponentChildren;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** A card; on a narrow screen a line that unfolds. */
export function Fold({ title, brief, class: name, children }: FoldProps) {
  const isNarrow = useNarrow();
  if (!isNarrow)
    return (
      <section class={`card ${name}`} aria-label={title}>
        {children}
      </section>
    );
  return (
    <details class={`card fold ${name}`}>
      <summary>
        <b>{title}</b> <span class="quiet">{brief}</span>
      </summary>
      {children}
    </details>
  );
}

const NARROW = '(max-width: 900px)';

/** Whether the screen is too narrow for two columns; the style sheet has the same condition. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const change = () => setNarrow(media.matches);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, []);
  return isNarrow;
}
