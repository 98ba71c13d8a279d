/** Lines over two axes as an SVG that needs nothing else: no script, no font, no style sheet. */

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Dots alone, not joined. */
  readonly dots?: boolean;
  readonly dashed?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly label: string;
  readonly log?: boolean;
  readonly from?: number;
  readonly to?: number;
}

const WIDTH = 720;
const HEIGHT = 380;
const MARGIN = { left: 70, right: 190, top: 40, bottom: 50 };
/** Distinguishable without colour vision (Okabe and Ito 2008). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!);

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

function scaleOf(axis: Axis, values: readonly number[], from: number, to: number): Scale {
  const usable = values.filter((value) => Number.isFinite(value) && (!axis.log || value > 0));
  let low = axis.from ?? Math.min(...usable);
  let high = axis.to ?? Math.max(...usable);
  if (!(high > low)) [low, high] = axis.log ? [low / 2, low * 2] : [low - 0.5, low + 0.5];
  const place = axis.log ? Math.log10 : (value: number) => value;
  const at = (value: number) =>
    from + ((place(value) - place(low)) / (place(high) - place(low))) * (to - from);
  return { at, ticks: axis.log ? logTicks(low, high) : evenTicks(low, high) };
}

function evenTicks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const first = Math.ceil(low / step);
  return Array.from(
    { length: Math.floor(high / step + 1e-9) - first + 1 },
    (_, index) => (first + index) * step,
  );
}

function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1)
    for (const factor of high / low > 1000 ? [1] : [1, 2, 5]) ticks.push(factor * 10 ** power);
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

const shown = (value: number) => String(Number(value.toPrecision(3)));

export function chartSvg({ title, x, y, series }: Chart): string {
  const points = series.flatMap((one) => one.points);
  const right = WIDTH - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const across = scaleOf(
    x,
    points.map(([value]) => value),
    MARGIN.left,
    right,
  );
  const up = scaleOf(
    y,
    points.map(([, value]) => value),
    bottom,
    MARGIN.top,
  );
  const grid = [
    ...across.ticks.map((tick) => {
      const at = across.at(tick).toFixed(1);
      return `<path d="M${at} ${MARGIN.top}V${bottom}" stroke="#ddd"/><text x="${at}" y="${bottom + 16}" text-anchor="middle">${shown(tick)}</text>`;
    }),
    ...up.ticks.map((tick) => {
      const at = up.at(tick).toFixed(1);
      return `<path d="M${MARGIN.left} ${at}H${right}" stroke="#ddd"/><text x="${MARGIN.left - 6}" y="${at}" dy="4" text-anchor="end">${shown(tick)}</text>`;
    }),
  ];
  const drawn = series.map((one, index) => seriesSvg(one, index, across, up, x, y));
  const middle = (MARGIN.top + bottom) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="#222">`,
    `<title>${escaped(title)}</title><rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="22" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    ...grid,
    `<path d="M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}" fill="none" stroke="#222"/>`,
    `<text x="${(MARGIN.left + right) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    ...drawn,
    '</svg>',
  ].join('\n');
}

function seriesSvg(
  { name, points, dots, dashed }: Series,
  index: number,
  across: Scale,
  up: Scale,
  x: Axis,
  y: Axis,
): string {
  const colour = COLOURS[index % COLOURS.length]!;
  const visible = points.filter(([a, b]) => (!x.log || a > 0) && (!y.log || b > 0));
  const at = visible.map(([a, b]) => `${across.at(a).toFixed(1)} ${up.at(b).toFixed(1)}`);
  const line =
    dots || at.length < 2
      ? ''
      : `<path d="M${at.join('L')}" fill="none" stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="6 4"' : ''}/>`;
  const marks = at.map((place) => {
    const [cx, cy] = place.split(' ');
    return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
  });
  const legendY = MARGIN.top + 10 + index * 18;
  const legendX = WIDTH - MARGIN.right + 14;
  const legend = `<circle cx="${legendX}" cy="${legendY - 4}" r="4" fill="${colour}"/><text x="${legendX + 10}" y="${legendY}">${escaped(name)}</text>`;
  return [line, dashed ? '' : marks.join(''), legend].join('');
}
