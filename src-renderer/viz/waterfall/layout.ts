/** A stage of a duration; stages are consecutive. */
export interface Stage {
  label: string;
  ms: number;
}

interface StageBar {
  x: number;
  width: number;
  y: number;
}

export const STAGE_HEIGHT = 26;
const THINNEST = 1.5;

/** Each stage starts where the previous one ends. x starts at `left`, the total width is `room`; a stage of zero duration is a hairline. */
export function layoutStages(stages: readonly Stage[], left: number, room: number): StageBar[] {
  const total = stages.reduce((sum, { ms }) => sum + Math.max(0, ms), 0);
  let before = 0;
  return stages.map(({ ms }, i) => {
    const share = total > 0 ? Math.max(0, ms) / total : 0;
    const x = left + before * room;
    before += share;
    return {
      x: Math.min(x, left + room - THINNEST),
      width: Math.max(THINNEST, share * room),
      y: i * STAGE_HEIGHT,
    };
  });
}

export function stageAt(stages: readonly Stage[], y: number): number | null {
  const stage = Math.floor(y / STAGE_HEIGHT);
  return stage >= 0 && stage < stages.length ? stage : null;
}
