import type {
  AnswerStats,
  Citation,
  CitedSentence,
  Message,
  Thinking,
} from '../../../../src-shared/contract/chat.ts';
import type { Failure } from '../../../../src-shared/contract/common.ts';
import type { KvasirEvent } from '../../../../src-shared/contract/events.ts';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import type { Notice } from '../../../../src-shared/answer.ts';
import { append, EMPTY_SPLIT, type BlockSplit } from '../../../ui/markdown/split.ts';
import { citeMark } from '../../../ui/markdown/tokens.ts';

/** State of an answer being generated, from events alone. */
export interface LiveAnswer {
  readonly conversationId: string;
  readonly text: string;
  /** The model's thoughts before the answer; null: none so far. */
  readonly thinking: Thinking | null;
  /** Where the text begins that follows the last call of a tool. */
  readonly from: number;
  /** The text from there in blocks, for rendering. */
  readonly split: BlockSplit;
  /** Calls of tools, in the order of the answer. */
  readonly calls: readonly ToolCall[];
  /** The sentences whose end has come. */
  readonly sentences: readonly CitedSentence[];
  readonly progress: { done: number; total: number; secondsLeft: number | null } | null;
  readonly citations: readonly Citation[] | null;
  readonly notices: readonly Notice[];
  readonly ended: {
    state: 'done' | 'stopped' | 'failed';
    failure: Failure | null;
    stats: AnswerStats | null;
    hasReport: boolean;
  } | null;
  /** Text was missed; the conversation must be queried again. */
  readonly incomplete: boolean;
}

export type LiveAnswers = ReadonlyMap<string, LiveAnswer>;
export type AnswerEvent = Extract<KvasirEvent, { payload: { conversationId: string; answerId: string } }>;

const BEGINNING = {
  text: '',
  thinking: null,
  from: 0,
  split: EMPTY_SPLIT,
  calls: [],
  sentences: [],
  progress: null,
  citations: null,
  notices: [],
  ended: null,
  incomplete: false,
} as const;

function begin(conversationId: string): LiveAnswer {
  return { conversationId, ...BEGINNING };
}

/** Applies the events of one frame; parses each answer's Markdown once per frame, not once per event. */
export function withEvents(answers: LiveAnswers, events: readonly AnswerEvent[]): LiveAnswers {
  const next = new Map(answers);
  const texts = new Map<string, string>();
  const sentences = new Map<string, CitedSentence[]>();
  for (const event of events) {
    const { answerId, conversationId } = event.payload;
    const answer = next.get(answerId) ?? begin(conversationId);
    const pending = texts.get(answerId) ?? '';
    if (event.topic === 'chat.text') {
      const length = answer.text.length + pending.length;
      const { offset, text } = event.payload;
      if (offset > length) next.set(answerId, { ...answer, incomplete: true });
      else {
        texts.set(answerId, pending + text.slice(length - offset));
        next.set(answerId, answer);
      }
    } else if (event.topic === 'chat.sentence') {
      next.set(answerId, answer);
      sentences.set(answerId, [...(sentences.get(answerId) ?? []), event.payload.sentence]);
    } else next.set(answerId, withEvent(answer, event));
  }
  for (const [answerId, answer] of next)
    next.set(answerId, grown(answer, texts.get(answerId) ?? '', sentences.get(answerId)));
  return next;
}

function withEvent(
  answer: LiveAnswer,
  event: Exclude<AnswerEvent, { topic: 'chat.text' | 'chat.sentence' }>,
): LiveAnswer {
  switch (event.topic) {
    case 'chat.progress': {
      const { done, total, secondsLeft } = event.payload;
      return { ...answer, progress: { done, total, secondsLeft } };
    }
    case 'chat.citations':
      return { ...answer, citations: event.payload.citations };
    case 'chat.notice':
      return { ...answer, notices: [...answer.notices, event.payload.notice] };
    case 'chat.call':
      return { ...answer, calls: merged(answer.calls, [event.payload.call]) };
    case 'chat.thinking':
      return withThought(answer, event.payload);
    case 'chat.done': {
      const { state, failure, stats, hasReport } = event.payload;
      return { ...answer, ended: { state, failure, stats, hasReport } };
    }
  }
}

function withThought(
  answer: LiveAnswer,
  { offset, text, ms, tokens }: Thinking & { offset: number },
): LiveAnswer {
  const known = answer.thinking?.text ?? '';
  if (offset > known.length) return { ...answer, incomplete: true };
  return { ...answer, thinking: { text: known + text.slice(known.length - offset), ms, tokens } };
}

function grown(answer: LiveAnswer, more: string, ended: readonly CitedSentence[] = []): LiveAnswer {
  const text = answer.text + more;
  const from = Math.max(0, ...answer.calls.map(({ offset }) => offset).filter((at) => at <= text.length));
  const known = answer.sentences.at(-1)?.end ?? -1;
  const added = ended.filter(({ end }) => end > known && end <= text.length);
  if (more === '' && added.length === 0 && from === answer.from) return answer;
  const sentences = [...answer.sentences, ...added];
  const begins = from !== answer.from;
  const marks = sentences
    .map(({ end }, i) => ({ fromEnd: text.length - end, mark: citeMark(i) }))
    .slice(begins ? 0 : answer.sentences.length)
    .filter(({ fromEnd }) => fromEnd < text.length - from);
  const split = begins ? append(EMPTY_SPLIT, text.slice(from), marks) : append(answer.split, more, marks);
  return { ...answer, text, from, sentences, split };
}

const ORDER = ['asking', 'running', 'done', 'failed', 'refused', 'stopped'];

/** Calls by id, each in its later state: events and the core's copy come in any order. */
function merged(known: readonly ToolCall[], told: readonly ToolCall[]): readonly ToolCall[] {
  const calls = new Map(known.map((call) => [call.id, call]));
  const isNews = ({ id, state }: ToolCall): boolean =>
    ORDER.indexOf(state) > ORDER.indexOf(calls.get(id)?.state ?? '');
  const news = told.filter(isNews);
  if (news.length === 0) return known;
  for (const call of news) calls.set(call.id, call);
  return [...calls.values()].toSorted((a, b) => a.offset - b.offset);
}

/** Merges the core's copies of unfinished answers, and drops live answers that it has stored in full. */
export function withMessages(
  answers: LiveAnswers,
  conversationId: string,
  messages: readonly Message[],
): LiveAnswers {
  const next = new Map(answers);
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const answer = next.get(message.id);
    if (!isUnfinished(message)) {
      if (answer?.ended) next.delete(message.id);
      continue;
    }
    const known = answer ?? begin(conversationId);
    const more = message.text.slice(known.text.length);
    const thinking = longer(message.thinking, known.thinking);
    const calls = merged(known.calls, message.calls);
    if (more !== '' || thinking !== known.thinking || calls !== known.calls)
      next.set(message.id, {
        ...grown({ ...known, calls }, more, message.stats?.sentences),
        ...{ thinking, incomplete: false },
      });
  }
  return sameEntries(next, answers) ? answers : next;
}

function longer(kept: Thinking | null, live: Thinking | null): Thinking | null {
  return (kept?.text.length ?? 0) > (live?.text.length ?? 0) ? kept : live;
}

function sameEntries(a: LiveAnswers, b: LiveAnswers): boolean {
  return a.size === b.size && [...a].every(([id, answer]) => b.get(id) === answer);
}

export function isUnfinished({ state }: Pick<Message, 'state'>): boolean {
  return state === 'waiting' || state === 'prefilling' || state === 'streaming';
}

/** A message with its live state on top of the stored one. */
export function current(message: Message, live: LiveAnswer | undefined): Message {
  if (!live || !isUnfinished(message)) return message;
  const writes = live.text !== '' || live.thinking !== null || live.calls.length > 0;
  return {
    ...message,
    text: live.text.length > message.text.length ? live.text : message.text,
    thinking: longer(message.thinking, live.thinking),
    state: live.ended?.state ?? (writes ? 'streaming' : live.progress ? 'prefilling' : message.state),
    failure: live.ended?.failure ?? message.failure,
    stats: live.ended?.stats ?? message.stats,
    hasReport: live.ended?.hasReport ?? message.hasReport,
    citations: live.citations ? [...live.citations] : message.citations,
    calls: [...merged(message.calls, live.calls)],
    notices: live.notices.length > message.notices.length ? [...live.notices] : message.notices,
  };
}

/** Whether a call of a tool waits for the person's permission. */
export function isAsking({ calls }: Pick<LiveAnswer, 'calls'>): boolean {
  return calls.some(({ state }) => state === 'asking');
}
