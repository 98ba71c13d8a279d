import { useState } from 'preact/hooks';

/** Copies a text; says so on the button. Without HTTPS a page may not, and the button is absent. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<string>();
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (!clipboard) return null;
  return (
    <button type="button" onClick={() => void clipboard.writeText(text).then(() => setCopied(text))}>
      {copied === text ? 'Copied' : label}
    </button>
  );
}
