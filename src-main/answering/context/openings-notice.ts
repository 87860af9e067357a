import type { Notice } from '../../../src-shared/answer.ts';
import type { Forecast } from '../backends/backend.ts';
import { documentShares } from '../document-shares.ts';
import { plural } from '../notices.ts';
import type { Passages, ReadableDocuments } from '../passages.ts';
import type { Prompt } from '../prompt.ts';

const MS_PER_MINUTE = 60_000;

interface Openings {
  readable: ReadableDocuments;
  passages: Passages;
  /** The prompt with the openings, and what processing it takes. */
  prompt: Prompt;
  forecast: Forecast | undefined;
  /** Tokens of documents that one step of an analysis reads. */
  window: number;
}

/** How much of the documents an answer rests on, and the price of reading everything; none when openings are everything. */
export function openingsNotice({ readable, passages, prompt, forecast, window }: Openings): Notice[] {
  const shares = documentShares(prompt, passages);
  const read = shares.reduce((sum, { readTokens }) => sum + readTokens, 0);
  if (read >= readable.tokens) return [];
  const number = (value: number): string => value.toLocaleString('en-US');
  const of =
    readable.count === 1 ? 'the document' : `${shares.length} of ${number(readable.count)} documents`;
  const minutes = fullMs(readable.tokens, prompt, forecast) / MS_PER_MINUTE;
  const time = Number.isNaN(minutes)
    ? ''
    : `, about ${plural(Math.max(1, Math.round(minutes)), 'minute')} of prefill`;
  const steps = plural(Math.ceil(readable.tokens / window), 'step');
  const message =
    `No passage answers the question by its words, and the documents are too long to read whole: the answer is based on the openings of ${of}, ` +
    `${number(read)} of ${number(readable.tokens)} tokens. An analysis reads all of it: about ${steps}${time}.`;
  return [{ kind: 'openings', message }];
}

/** Of this many tokens, by what is predicted for the prompt; NaN: unknown. */
function fullMs(tokens: number, prompt: Prompt, forecast: Forecast | undefined): number {
  return ((forecast?.fullMs ?? Number.NaN) * tokens) / prompt.tokens;
}
