import type { AnswerEvent } from './backends/backend.ts';
import { RepetitionWatch } from './repetition.ts';
import type { AnswerDelta, AnswerDecoder } from './thoughts.ts';

interface AnswerWriterOptions {
  writing: Pick<AnswerDecoder, 'tokensBefore'>;
  /** Whether it may repeat itself. */
  mayRepeat: boolean;
  /** What was written before, if the answer is continued. */
  begun: AnswerDelta;
  tell: (event: AnswerEvent) => void;
}

/** The text of an answer so far, told as it grows. An answer that repeats itself is ended. */
export class AnswerWriter {
  thought: string;
  text: string;
  readonly #options: AnswerWriterOptions;
  readonly #repeats = new AbortController();
  readonly #watches = { thought: new RepetitionWatch(), answer: new RepetitionWatch() };

  constructor(options: AnswerWriterOptions) {
    this.#options = options;
    this.thought = options.begun.thought;
    this.text = options.begun.answer;
  }

  /** Aborted when the answer repeats itself. */
  get repeats(): AbortSignal {
    return this.#repeats.signal;
  }

  add({ thought, answer }: AnswerDelta): void {
    if (this.repeats.aborted) return; // tokens that were in flight
    const { writing, mayRepeat, tell } = this.#options;
    const { tokensBefore } = writing;
    this.thought += thought;
    this.text += answer;
    if (thought !== '') tell({ kind: 'thought', text: thought, tokens: tokensBefore });
    if (answer !== '') tell({ kind: 'text', text: answer, tokensBefore });
    if (mayRepeat) return;
    if (this.#watches.thought.push(thought) || this.#watches.answer.push(answer)) this.#repeats.abort();
  }
}
