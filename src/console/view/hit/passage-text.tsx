import type { Hit } from '@farthing/client';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { passageIn } from '../../model/search/passage.ts';
import { marked, Snippet } from '../parts/snippet.tsx';
import { useContent } from './use-content.ts';

/** Files whose bytes are their text. */
const TEXTS = /^text\/(plain|markdown|csv)$/;
const TEXT_BYTES_MAX = 2_000_000;

/** The passage found, with the text around it where the file is text. */
export function PassageText({ hit }: { hit: Hit }) {
  const { item, snippet, highlights } = hit;
  const isText = TEXTS.test(item.media_type) && item.bytes <= TEXT_BYTES_MAX && snippet !== undefined;
  const { blob } = useContent(item.id, isText);
  const [content, setContent] = useState<string>();
  useEffect(() => void blob?.text().then(setContent), [blob]);
  const passage = useMemo(
    () => (content === undefined ? undefined : passageIn(content, hit)),
    [content, hit],
  );
  const found = useRef<HTMLElement>(null);
  useEffect(() => found.current?.scrollIntoView({ block: 'center' }), [passage]);
  if (snippet === undefined) return null;
  if (!passage)
    return (
      <blockquote>
        <Snippet text={snippet} marks={highlights} />
      </blockquote>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="passage" tabIndex={0} aria-label="The passage in its file">
      {passage.before}
      <span class="found" ref={found}>
        {marked(passage.text, passage.marks)}
      </span>
      {passage.after}
    </section>
  );
}
