import { PromptFiguresSchema } from '../../../src-shared/figures.ts';
import type { Answer, Notice, Source } from '../../../src-shared/answer.ts';
import type { AnswerStats, Citation, Message } from '../../../src-shared/contract/chat.ts';
import type { InputOf } from '../../../src-shared/contract/contract.ts';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { endingNotices } from '../../answering/notices.ts';
import { unsupportedNotice } from '../../answering/unsupported.ts';
import type { CoreClient } from './client.ts';
import { stoppable } from './stoppable.ts';

export interface Question extends NonNullable<InputOf<'chat.create'>['options']> {
  question: string;
  signal?: AbortSignal | undefined;
  onNotice?: (notice: Notice) => void;
  /** More thinking text before the answer. */
  onThought?: (text: string) => void;
  /** More text of the answer. */
  onText?: (text: string) => void;
}

export interface ClientAnswer extends Answer {
  thinking: string;
  strategy: StrategyChoice;
  /** How the prompt was processed; null for a remote model. */
  report: FusionReport | null;
}

/** Asks one question in a conversation that is deleted afterwards. The answer's failure; ABORTED. */
export function ask(client: CoreClient, question: Question): Promise<ClientAnswer> {
  return withAnswer(client, question, async (answer, stats) => {
    const report = await client.call('chat.report', { answerId: answer.id });
    return clientAnswer(question.question, answer, stats, report);
  });
}

/** The same, with work on the answer before it is deleted. */
export async function withAnswer<T>(
  client: CoreClient,
  { question, signal, onNotice, onThought, onText, ...options }: Question,
  work: (answer: Message, stats: AnswerStats) => Promise<T>,
): Promise<T> {
  const { id } = await client.call('chat.create', { options });
  const done = Promise.withResolvers<unknown>();
  const isOwn = ({ conversationId }: { conversationId: string }): boolean => conversationId === id;
  const ends = [
    client.on('chat.notice', (event) => isOwn(event) && onNotice?.(event.notice)),
    client.on('chat.thinking', (event) => isOwn(event) && onThought?.(event.text)),
    client.on('chat.text', (event) => isOwn(event) && onText?.(event.text)),
    client.on('chat.done', (event) => isOwn(event) && done.resolve(event)),
  ];
  try {
    const stop = (): Promise<unknown> => client.call('chat.stop', { id });
    const answerId = await stoppable(signal, stop, async () => {
      const sent = await client.call('chat.send', { conversationId: id, text: question });
      if (signal?.aborted === true) await stop();
      await done.promise;
      return sent.answerId;
    });
    const { messages } = await client.call('chat.get', { id });
    const answer = messages.find((message) => message.id === answerId);
    if (answer?.failure) {
      const { code, message, advice } = answer.failure;
      throw new KvasirError(code, message, advice);
    }
    if (answer?.state !== 'done' || !answer.stats) throw new KvasirError('ABORTED', 'It was stopped.');
    return await work(answer, answer.stats);
  } finally {
    for (const end of ends) end();
    await client.call('chat.delete', { id }).catch(() => undefined); // the answer's failure matters more
  }
}

function clientAnswer(
  question: string,
  { citations, notices, ...written }: Message,
  stats: AnswerStats,
  report: FusionReport | null,
): ClientAnswer {
  const { ttftMs, fullPrefillMs, fullPrefillMeasured, tokensPerSecond, strategy, stop = 'eos' } = stats;
  const answer = written.text.trimEnd();
  const thinking = written.thinking?.text.trimEnd() ?? '';
  return {
    question,
    answer,
    thinking,
    stop,
    sources: citations.map(sourceOf),
    notices: [
      ...notices,
      ...endingNotices({ text: answer, thought: thinking, stop, stats }),
      ...unsupportedNotice(answer, stats.unsupported),
    ],
    ttftMs,
    fullPrefillMs,
    fullPrefillMeasured,
    tokensPerSecond,
    strategy,
    plan: report?.plan,
    prompt: PromptFiguresSchema.parse(stats),
    report,
  };
}

function sourceOf({ path, ordinal, title, text, score, reason, tier, tokens }: Citation): Source {
  return {
    document: path,
    title,
    chunk: ordinal,
    text,
    score,
    tokens,
    reason: REASONS[reason] ?? reason,
    tier: tier === 'resident' ? 'ram' : tier, // a new conversation holds nothing before its only turn
  };
}

/** Why a passage is in a prompt, in words. */
const REASONS: Readonly<Record<string, string>> = {
  match: 'matches the question',
  'before-match': 'precedes a match',
  'after-match': 'follows a match',
  'leads-up': 'gives context before a match',
  'named-in-match': 'its document is named in a match',
  'whole-document': 'its whole document is in the prompt',
  opening: 'begins its document or a part of it',
  outline: 'lists the headings of its document',
  'match-and-neighbour': 'matches the question and is next to a match',
};
