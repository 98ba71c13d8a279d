import { useEffect, useState } from 'preact/hooks';

const NARROW = '(max-width: 900px)';

/** Whether the screen is too narrow for two columns; the style sheet has the same condition. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const change = () => setNarrow(media.matches);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, []);
  return isNarrow;
}
