import type { Row } from './table.ts';

const WIDTH = 900;
const HEIGHT = 560;
const PLOT = { left: 70, top: 30, right: 330, bottom: 50 };
const COLOURS = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
];

/** Time to first token by context length, a line a method, both axes logarithmic. An SVG document. */
export function plot(rows: readonly Row[], title: string): string {
  const methods = [...new Set(rows.map(({ method }) => method))];
  const contexts = [...new Set(rows.map(({ context }) => context))].sort((a, b) => a - b);
  const seconds = rows.map(({ medianMs }) => medianMs / 1000);
  const x = logScale([contexts[0] ?? 1, contexts.at(-1) ?? 1], [PLOT.left, WIDTH - PLOT.right]);
  const y = logScale([Math.min(...seconds), Math.max(...seconds)], [HEIGHT - PLOT.bottom, PLOT.top]);
  const lines = methods.map((method, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? '#000';
    const dash = i < COLOURS.length ? '' : ' stroke-dasharray="5 3"';
    const points = rows
      .filter((row) => row.method === method)
      .map((row): [number, number] => [x(row.context), y(row.medianMs / 1000)]);
    const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
    const dots = points.map(
      ([px, py]) => `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="3" fill="${colour}"/>`,
    );
    const at = PLOT.top + 16 * i;
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`,
      ...dots,
      `<rect x="${WIDTH - PLOT.right + 20}" y="${at - 8}" width="12" height="3" fill="${colour}"/>`,
      `<text x="${WIDTH - PLOT.right + 38}" y="${at - 2}">${escape(method)}</text>`,
    ].join('');
  });
  const xTicks = contexts.map(
    (context) =>
      `<text x="${x(context)}" y="${HEIGHT - PLOT.bottom + 18}" text-anchor="middle">${context}</text>`,
  );
  const yTicks = decades(Math.min(...seconds), Math.max(...seconds)).map(
    (value) =>
      `<line x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>` +
      `<text x="${PLOT.left - 8}" y="${y(value) + 4}" text-anchor="end">${value} s</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${PLOT.left}" y="18" font-size="14">${escape(title)}</text>`,
    ...yTicks,
    ...xTicks,
    ...lines,
    `<text x="${(PLOT.left + WIDTH - PLOT.right) / 2}" y="${HEIGHT - 12}" text-anchor="middle">tokens of context</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function logScale([from, to]: [number, number], [low, high]: [number, number]): (value: number) => number {
  const span = Math.log(to / from) || 1;
  return (value) => low + ((high - low) * Math.log(value / from)) / span;
}

/** 1, 2 and 5 of every decade within the range. */
function decades(from: number, to: number): number[] {
  const out: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
    for (const digit of [1, 2, 5]) {
      const value = Number((digit * 10 ** power).toPrecision(1));
      if (value >= from && value <= to) out.push(value);
    }
  }
  return out;
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}
