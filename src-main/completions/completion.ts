import { readAnswer, type Answer, type AnswerMaker } from '../answering/answer.ts';
import type { Ask } from '../answering/ask.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import { endingNotices } from '../answering/notices.ts';
import { citationsOf } from '../answering/passages.ts';
import { unsupportedIn, unsupportedNotice } from '../answering/unsupported.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { addCallDelta, type ToolCall, type ToolCallDelta } from '../answering/tools.ts';
import { AnswerText } from './answer-text.ts';
import type { CompletionRequest, CompletionResult, CompletionRun } from './types.ts';

/** Makes an answer and streams it to a client: up to a stop text, and from a library with the numbers of its passages. */
export async function complete(
  request: CompletionRequest,
  ask: Ask,
  maker: Pick<AnswerMaker, 'answer'>,
  run: CompletionRun,
): Promise<{ result: CompletionResult; made: Answer }> {
  const stopped = new AbortController();
  const answer = new AnswerText({ ...run, stops: request.stop ?? [], onStop: () => stopped.abort() });
  const signal = AbortSignal.any([run.signal, stopped.signal]);
  const calls: ToolCall[] = [];
  const call = (delta: ToolCallDelta): void => {
    addCallDelta(calls, delta);
    run.onCall?.(delta);
  };
  let tokensBefore = 0;
  const made = await readAnswer(maker.answer({ ...ask, signal }), (event) => {
    if (event.kind === 'placed' && ask.question !== '' && request.json === undefined)
      answer.cite(event.citations, ask.question);
    else if (event.kind === 'prompt') run.onPrompt?.(event.usage);
    else if (event.kind === 'token') answer.token(event.logprobs);
    else if (event.kind === 'thought') answer.think(event.text);
    else if (event.kind === 'text') answer.write(event.text, (tokensBefore = event.tokensBefore));
    else if (event.kind === 'call' && answer.stoppedBy === undefined) {
      answer.flush(tokensBefore);
      call(event.call);
    }
  });
  if (answer.stoppedBy === undefined) throwIfAborted(run.signal);
  answer.end(made.tokensBefore);
  return { result: resultOf(request, ask, made, { answer, calls }), made };
}

function resultOf(
  request: CompletionRequest,
  ask: Ask,
  made: Answer,
  { answer, calls }: { answer: AnswerText; calls: ToolCall[] },
): CompletionResult {
  const { text, thought, stoppedBy, logprobs, sentences, tokens: counted } = answer;
  const { stop, local, tokensBefore } = made;
  // Counts in a server's prompt are its own.
  const { answerTokens: tokens = counted, ...usage } = made.usage;
  const unsupported =
    request.json === undefined ? unsupportedIn(text, made.prompt, backendOf(ask.model)) : undefined;
  // A call that repeats itself has no end.
  const isWhole = stoppedBy !== undefined || stop === 'eos' || (stop === 'repetition' && calls.length === 0);
  const stats = { ...made.stats, answerTokens: tokens, unsupported, sentences };
  return {
    model: request.model,
    fingerprint: ask.model.info.fingerprint,
    text,
    calls,
    thought,
    finish: isWhole ? (calls.length > 0 ? 'tool_calls' : 'stop') : 'length',
    stoppedBy,
    logprobs: request.logprobs === undefined ? undefined : logprobs,
    usage: { ...usage, completionTokens: tokens, thoughtTokens: Math.min(tokens, tokensBefore) },
    made: {
      stats,
      plan: local?.plan,
      notices: [
        ...made.notices,
        ...endingNotices({ text, thought, stop, stats }),
        ...unsupportedNotice(text, unsupported),
      ],
    },
    citations: citationsOf(made.prompt, made.tiers, sentences),
  };
}
