import type { Box } from '@farthing/client';

/** The part of a page that was found, drawn over its picture. */
export function BoxMark({ box }: { box: Box | undefined }) {
  if (!box) return null;
  const percent = (share: number) => `${Math.min(1, Math.max(0, share)) * 100}%`;
  const { x, y, width, height } = box;
  const style = { left: percent(x), top: percent(y), width: percent(width), height: percent(height) };
  return <span class="box" style={style} />;
}
