import type { Ttft } from '../../src-shared/ttft.ts';
import type { Colour } from './palette.ts';

/** The stages of the time to first token of a local answer, in order; their names are in i18n's `stages`. */
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

/** The stages of any answer: a remote answer has one that runs on the server. */
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
