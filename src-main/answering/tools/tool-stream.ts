import { overlap } from '../thoughts.ts';
import { newCallId, type Tool, type ToolCallDelta } from '../tools.ts';
import type { ToolFormat } from './format.ts';

/** More of an answer: its text, then its calls. */
interface ToolStreamDelta {
  text: string;
  calls: ToolCallDelta[];
}

/** Separates calls from the text of an answer as it is written. Text after a call is dropped: models end their answers there. */
export class ToolStream {
  readonly #format: ToolFormat;
  readonly #tools: readonly Tool[];
  readonly #newId: () => string;
  /** Of the text, what may belong to a mark, or white space before one; of the calls, the one being written. */
  #held = '';
  #within: 'nothing' | 'text' | 'calls' = 'nothing';
  #index = 0;
  /** UTF-16 units of the arguments that were told; undefined: nothing of the call was. */
  #told: number | undefined;

  constructor(format: ToolFormat, tools: readonly Tool[], newId = newCallId) {
    this.#format = format;
    this.#tools = tools;
    this.#newId = newId;
  }

  push(text: string): ToolStreamDelta {
    this.#held += text;
    const before = this.#within === 'calls' ? '' : this.#text();
    return { text: before, calls: this.#within === 'calls' ? this.#calls() : [] };
  }

  /** The remaining text at the end of the stream. What began like a call but is none is text. */
  flush(): string {
    const isText = this.#within !== 'calls' || (this.#index === 0 && this.#told === undefined);
    return isText ? this.#held : '';
  }

  /** Text that does not belong to a call; sets where the calls begin. */
  #text(): string {
    const { marks, bare = false } = this.#format;
    const held = this.#held;
    const isBare = bare && this.#within === 'nothing' && held.trimStart().startsWith('{');
    const found = marks.map((mark) => held.indexOf(mark)).filter((at) => at >= 0);
    const at = isBare ? 0 : Math.min(...found);
    if (at === Infinity) {
      const open = Math.max(...marks.map((mark) => overlap(held, mark)));
      const sure = held.slice(0, held.length - open).trimEnd();
      if (sure !== '') this.#within = 'text';
      this.#held = held.slice(sure.length);
      return sure;
    }
    this.#within = 'calls';
    this.#held = held.slice(at);
    return held.slice(0, at).trimEnd();
  }

  #calls(): ToolCallDelta[] {
    const deltas: ToolCallDelta[] = [];
    for (;;) {
      const call = this.#format.read(this.#held, this.#tools);
      if (!call) return deltas;
      const { name, arguments: given, end } = call;
      const head = this.#told === undefined ? { id: this.#newId(), name } : {};
      const more = given.slice(this.#told);
      if (this.#told === undefined || more !== '')
        deltas.push({ index: this.#index, ...head, arguments: more });
      this.#told = given.length;
      if (end === undefined) return deltas;
      this.#held = this.#held.slice(end);
      this.#told = undefined;
      this.#index++;
    }
  }
}
