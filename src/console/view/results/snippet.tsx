/** A passage with the query's words marked. */
export function Snippet({ text, words }: { text: string; words: RegExp | undefined }) {
  const parts = words ? text.split(words) : [text];
  return (
    <span class="snippet">
      {parts.map((part, index) => (index % 2 === 1 ? <mark key={`${index}${part}`}>{part}</mark> : part))}
    </span>
  );
}
