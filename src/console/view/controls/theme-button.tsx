import { useState } from 'preact/hooks';
import { ThemeIcon } from './icons.tsx';

type Theme = 'light' | 'dark';

/** Switches between light and dark, over the system's choice; kept for the next visit. */
export function ThemeButton() {
  const root = document.documentElement;
  const system: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const [theme, setTheme] = useState<Theme>((root.dataset.theme as Theme | undefined) ?? system);
  const other: Theme = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    root.dataset.theme = other;
    localStorage.setItem('farthing.theme', other);
    setTheme(other);
  };
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={change}
    >
      <ThemeIcon />
    </button>
  );
}
