import type { ComponentChildren } from 'preact';

interface PanelProps {
  readonly title: string;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A card with a title. */
export function Panel({ title, wide = false, children }: PanelProps) {
  return (
    <section class={wide ? 'card wide' : 'card'}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
