import type { Scope } from '../../src-shared/contract/search.ts';
import type { ToolCall as ShownCall } from '../../src-shared/contract/tool-calls.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { MOST_STEPS } from '../answering/tools/steps.ts';
import { newCallId, type ToolCall } from '../answering/tools.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import { traceOf } from '../platform/failure.ts';
import type { Logger } from '../platform/logger.ts';
import type { CallableTool, ToolResult } from '../tools/tool.ts';
import type { OfferedTools } from './conversation-tools.ts';
import type { LiveAnswer } from './live-answer.ts';

/** Characters of a result at most, whatever the context holds. */
const MOST_CHARACTERS = 40_000;

interface CallRunnerOptions {
  live: LiveAnswer;
  offered: OfferedTools;
  scope: Scope;
  model: Pick<NamedModel['model'], 'tokenize'>;
  /** Runs work while others may use the model. */
  pause: <T>(work: () => Promise<T>) => Promise<T>;
  clock: Clock;
  log: Pick<Logger, 'error'>;
}

/** Runs the calls of an answer one after the other: asks the person where that is needed, and shows each call. */
export class CallRunner {
  readonly #options: CallRunnerOptions;
  /** Tools that the person allowed for the rest of the answer. */
  readonly #allowed = new Set<string>();
  #last: string | undefined;
  #steps = 0;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
  }

  /** Results for the model, of at most `tokens` each. ABORTED. */
  readonly run = (calls: readonly ToolCall[], tokens: number): Promise<string[]> => {
    const { pause, live } = this.#options;
    if (++this.#steps === MOST_STEPS - 1) live.addNotice(CALL_LIMIT);
    const work = async (): Promise<string[]> => {
      const results: string[] = [];
      for (const call of calls) results.push(await this.#call(call, tokens));
      return results;
    };
    const isQuick = calls.every(({ name }) => this.#tool(name)?.server === null);
    return isQuick ? work() : pause(work);
  };

  #tool(name: string): CallableTool | undefined {
    return this.#options.offered.tools.find((tool) => tool.name === name);
  }

  async #call({ id, name, arguments: given }: ToolCall, tokens: number): Promise<string> {
    const { live, clock } = this.#options;
    const tool = this.#tool(name);
    const shown: ShownCall = {
      id: live.calls.some((call) => call.id === id) ? newCallId() : id,
      name,
      title: tool?.title ?? name,
      server: tool?.server ?? null,
      arguments: given,
      offset: live.text.length,
      state: 'running',
      result: null,
      ms: null,
    };
    const end = (state: ShownCall['state'], text: string, ms: number | null = null): string => {
      const { result, cutOff } = this.#fitted(text, tokens);
      live.setCall({ ...shown, state, result, ms, ...(cutOff > 0 && { cutOff }) });
      return result;
    };
    const args = objectIn(given);
    if (!tool) return end('failed', `There is no tool called “${name}”. There are: ${this.#names()}.`);
    if (!args) return end('failed', 'The arguments are not a JSON object. Call again with a JSON object.');
    if (this.#repeats(name, args)) return end('failed', REPEATED);
    if (!(await this.#mayRun(tool, shown))) return end('refused', 'The person did not allow this call.');
    live.setCall(shown);
    const start = clock.now();
    const { text, isError } = await this.#result(tool, args);
    throwIfAborted(live.signal);
    return end(isError ? 'failed' : 'done', text, clock.now() - start);
  }

  #names(): string {
    return this.#options.offered.tools.map(({ name }) => name).join(', ');
  }

  /** Whether it is the same call as the one before it. */
  #repeats(name: string, args: object): boolean {
    const call = JSON.stringify([name, args]);
    const repeats = call === this.#last;
    this.#last = call;
    const { live } = this.#options;
    if (repeats && !live.notices.some(({ kind }) => kind === 'call-repeated'))
      live.addNotice({
        kind: 'call-repeated',
        message: `The model called ${name} again with the same arguments, so the call was not run again.`,
      });
    return repeats;
  }

  async #mayRun(tool: CallableTool, shown: ShownCall): Promise<boolean> {
    const { live, offered } = this.#options;
    if (tool.allowed || this.#allowed.has(tool.name)) return true;
    live.setCall({ ...shown, state: 'asking' });
    const decision = await live.decision(shown.id);
    if (decision === 'always') {
      this.#allowed.add(tool.name);
      offered.allow(tool);
    }
    return decision !== 'no';
  }

  async #result(tool: CallableTool, args: Record<string, unknown>): Promise<ToolResult> {
    const { live, scope, log } = this.#options;
    try {
      return await tool.run(args, { signal: live.signal, scope });
    } catch (error) {
      throwIfAborted(live.signal);
      if (error instanceof KvasirError)
        return { text: `${error.message} ${error.advice}`.trim(), isError: true };
      log.error('tool-failed', { tool: tool.name, error: traceOf(error) });
      return { text: 'The tool failed.', isError: true };
    }
  }

  /** A result as far as the context has room for it. */
  #fitted(text: string, tokens: number): { result: string; cutOff: number } {
    const { model } = this.#options;
    for (let most = MOST_CHARACTERS; ; most = Math.floor(most / 2)) {
      const cutOff = Math.max(0, text.length - most);
      const result =
        cutOff === 0
          ? text
          : `${text.slice(0, most).toWellFormed()}\n[${cutOff} more characters were cut off.]`;
      if (most < 1 || model.tokenize(result).length <= tokens) return { result, cutOff };
    }
  }
}

const REPEATED =
  'This is the same call with the same arguments as before, so it was not run again. Answer with what you have, or call with other arguments.';

const CALL_LIMIT = {
  kind: 'call-limit',
  message: `The model called tools in ${MOST_STEPS - 1} steps, which is the limit: it has to answer now.`,
} as const;

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
