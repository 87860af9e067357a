import type { Ttft } from '../../src-shared/ttft.ts';
import type { Colour } from './palette.ts';

/** The parts of a time to first token in the order in which they happen; their names are the words of i18n's `stages`. */
export const STAGES = [
  'wait',
  'retrieve',
  'assemble',
  'acquire',
  'load',
  'place',
  'check',
  'recompute',
  'firstToken',
  'server',
  'other',
] as const satisfies readonly Exclude<keyof Ttft, 'total'>[];

export type StageName = (typeof STAGES)[number];

export const STAGE_COLOURS: Readonly<Record<StageName, Colour>> = {
  wait: 'muted',
  retrieve: 'retrieve',
  assemble: 'muted',
  acquire: 'ram',
  load: 'load',
  place: 'place',
  check: 'check',
  recompute: 'compute',
  firstToken: 'accent',
  server: 'compute',
  other: 'muted',
};
