/** A duration made of consecutive stages. */
export interface TimedRow {
  label: string;
  /** Label with the total, after the bar. */
  value: string;
  stages: readonly { ms: number }[];
}

/** A stage of a row; x from the bars' left edge. */
interface BarPiece {
  x: number;
  width: number;
}

export const BAR_ROW = 30;

/** All rows on one scale: the longest takes `room`. Stages shorter than a pixel are kept, so that sums stay correct. */
export function layoutBars(rows: readonly TimedRow[], room: number): BarPiece[][] {
  const longest = Math.max(1e-9, ...rows.map(totalOf));
  return rows.map(({ stages }) => {
    let x = 0;
    return stages.map(({ ms }) => {
      const piece = { x, width: (Math.max(0, ms) / longest) * room };
      x += piece.width;
      return piece;
    });
  });
}

function totalOf({ stages }: TimedRow): number {
  return stages.reduce((sum, { ms }) => sum + Math.max(0, ms), 0);
}

export function barAt(rows: readonly TimedRow[], y: number): number | null {
  const row = Math.floor(y / BAR_ROW);
  return row >= 0 && row < rows.length ? row : null;
}
