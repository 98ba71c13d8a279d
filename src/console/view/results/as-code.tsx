import { useState } from 'preact/hooks';
import { asCurl, asTypeScript } from '../../model/search/as-code.ts';
import type { Asked } from '../../model/search/asked.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { CopyButton } from '../controls/copy-button.tsx';

const LANGUAGES = { curl: asCurl, TypeScript: asTypeScript } as const;
type Language = keyof typeof LANGUAGES;

/** The same search for a program. */
export function AsCode({ asked }: { asked: Asked }) {
  const { opened } = useStore(session);
  const [language, setLanguage] = useState<Language>('curl');
  if (!opened) return null;
  const code = LANGUAGES[language]({ baseUrl: location.origin, workspace: opened.id, asked });
  return (
    <details class="as-code">
      <summary>As code</summary>
      <div class="buttons">
        {(Object.keys(LANGUAGES) as Language[]).map((name) => (
          <button type="button" key={name} aria-pressed={name === language} onClick={() => setLanguage(name)}>
            As {name}
          </button>
        ))}
        <span class="spring" />
        <CopyButton text={code} label="Copy" />
        <CopyButton text={`export FARTHING_TOKEN=${opened.token}`} label="Copy the token" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="code" tabIndex={0} aria-label={`The search as ${language}`}>
        <pre>{code}</pre>
      </section>
    </details>
  );
}
