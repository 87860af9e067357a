import type { AnswerEvent } from './backends/backend.ts';
import { RepetitionWatch } from './repetition.ts';
import type { AnswerDelta, AnswerDecoder } from './thoughts.ts';
import type { ToolStream } from './tools/tool-stream.ts';

interface AnswerWriterOptions {
  writing: Pick<AnswerDecoder, 'tokensBefore'>;
  /** Whether it may repeat itself. */
  mayRepeat: boolean;
  /** What was written before, if the answer is continued. */
  begun: AnswerDelta;
  /** Reads calls in the text, which is then without them; absent: there are none. */
  calls?: ToolStream | undefined;
  tell: (event: AnswerEvent) => void;
}

/** The text of an answer so far, told as it grows, and its calls. An answer that repeats itself is ended. */
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
    const { writing, mayRepeat, tell, calls } = this.#options;
    const { tokensBefore } = writing;
    this.thought += thought;
    if (thought !== '') tell({ kind: 'thought', text: thought, tokens: tokensBefore });
    const read = calls?.push(answer) ?? { text: answer, calls: [] };
    this.#addText(read.text);
    for (const call of read.calls) tell({ kind: 'call', call });
    if (mayRepeat) return;
    if (this.#watches.thought.push(thought) || this.#watches.answer.push(answer)) this.#repeats.abort();
  }

  /** The end of the text, which may have begun like a call. */
  end(): void {
    this.#addText(this.#options.calls?.flush() ?? '');
  }

  #addText(text: string): void {
    const { writing, tell } = this.#options;
    this.text += text;
    if (text !== '') tell({ kind: 'text', text, tokensBefore: writing.tokensBefore });
  }
}
