import type { Ttft } from '../../src-shared/ttft.ts';
import type { Colour } from './palette.ts';

/** The parts of a time to first token that is computed here, in the order in which they happen; their names are the words of i18n's `stages`. */
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
  'other',
] as const satisfies readonly Exclude<keyof Ttft, 'total'>[];

/** The same of any answer: a server's has a part that happens there. */
export const ANSWER_STAGES = [...STAGES, 'server'] as const;

export type StageName = (typeof STAGES)[number];

export const STAGE_COLOURS: Readonly<Record<(typeof ANSWER_STAGES)[number], Colour>> = {
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
