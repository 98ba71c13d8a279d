import type { Box } from '../model/answers.ts';

/** The part of a page that was found, drawn over its picture. */
export function BoxMark({ box }: { box: Box | undefined }) {
  if (!box) return null;
  const [left, top, right, bottom] = box.map((share) => Math.min(1, Math.max(0, share)) * 100) as [
    number,
    number,
    number,
    number,
  ];
  const style = { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` };
  return <span class="box" style={style} />;
}
