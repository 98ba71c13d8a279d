import type { HourPoint } from '@farthing/protocol/schema/operator';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';

export interface Curve {
  readonly name: string;
  readonly unit: string;
  /** A custom property of the style sheet. */
  readonly colour: string;
  readonly of: (point: HourPoint) => number | null;
  readonly decimals: number;
}

const HEIGHT = 180;
/** Between marks of the time axis, in pixels: `hh:mm:ss` fits. */
const TIME_SPACE = 76;

/** Curves over the last hour, with their current values above. */
export function Chart({ points, curves }: { points: readonly HourPoint[]; curves: readonly Curve[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const newest = useRef(points);
  newest.current = points;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new UPlot(optionsOf(element, curves), dataOf(newest.current, curves), element);
    };
    draw();
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resize.observe(element);
    // A canvas doesn't follow the style sheet.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      scheme.removeEventListener('change', draw);
      theme.disconnect();
      resize.disconnect();
      plot.current?.destroy();
    };
  }, [curves]);
  useEffect(() => plot.current?.setData(dataOf(points, curves)), [points, curves]);
  const now = points.at(-1);
  return (
    <>
      <p class="now">
        {curves.map(({ name, unit, colour, of, decimals }) => {
          const value = now && of(now);
          return (
            <span key={name}>
              <i style={{ background: `var(${colour})` }} />
              {name} <b>{value === null || value === undefined ? '–' : value.toFixed(decimals)}</b> {unit}
            </span>
          );
        })}
      </p>
      <div class="chart" ref={place} aria-hidden="true" />
    </>
  );
}

function optionsOf(element: HTMLElement, curves: readonly Curve[]): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, space: TIME_SPACE, values: (_, times) => times.map(timeOfDay) },
      { ...axis, size: 54 },
    ],
    series: [
      {},
      ...curves.map((curve) => ({
        label: curve.name,
        stroke: colour(curve.colour),
        width: 2,
        points: { size: 4 },
      })),
    ],
  };
}

/** Of seconds since 1970, as the reader's clock shows it. */
function timeOfDay(seconds: number): string {
  return new Date(seconds * 1000).toTimeString().slice(0, seconds % 60 === 0 ? 5 : 8);
}

function dataOf(points: readonly HourPoint[], curves: readonly Curve[]): UPlot.AlignedData {
  return [points.map(({ at }) => at), ...curves.map(({ of }) => points.map(of))];
}
