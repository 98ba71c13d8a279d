import type { ComponentChildren } from 'preact';
import { useNarrow } from './use-narrow.ts';

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
