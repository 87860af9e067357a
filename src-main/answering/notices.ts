import type { Answer, Notice } from '../../src-shared/answer.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Decision } from '../fusion/planning/planner.ts';
import { termsOf } from '../catalogue/words.ts';
import { missingFacts, type Fact } from './facts/facts.ts';
import type { Ask } from './ask.ts';
import { isFound, type PromptChunk, type UnreadyDocuments } from './passages.ts';
import type { Prompt } from './prompt.ts';
import { obviousMatch } from './waiting-documents.ts';

/** What a reader must know about a prompt before trusting its answer. */
export function noticesOf(
  { question, choices: { contextTokens }, turnsLeftOut = 0, unready, chosen = [] }: Ask,
  prompt: Prompt,
): Notice[] {
  const { plainBecause, leftOut } = prompt;
  const plain: Notice[] = plainBecause === undefined ? [] : [{ kind: 'plain-prompt', message: plainBecause }];
  if (question === '') return plain;
  const notices = [...plain, ...chosen];
  if (prompt.cited.length + leftOut.length === 0)
    notices.push({ kind: 'no-match', message: noMatch(prompt, unready) });
  if (leftOut.length > 0) {
    const message = `The context of ${contextTokens} tokens cannot hold all matches; left out: ${leftOut.map(nameOf).join(', ')}.`;
    notices.push({ kind: 'left-out', message });
  }
  const turns = turnsLeftOut + prompt.turnsLeftOut;
  if (turns > 0) {
    const message = `The context of ${contextTokens} tokens cannot hold the whole conversation: the model no longer sees its first ${plural(turns, 'question')}.`;
    notices.push({ kind: 'turns-left-out', message });
  }
  return [...notices, ...missingNotice(question, prompt), ...unreadyNotice(unready)];
}

/** A search that ranked only the newest passages with its words. */
export function newestNotice(newest: number | null): Notice[] {
  if (newest === null) return [];
  const message = `The words of the question are very common: by words, only the newest ${newest.toLocaleString('en')} passages with them were ranked. Add a rarer word to search all.`;
  return [{ kind: 'newest-only', message }];
}

function nameOf({ label, passage }: PromptChunk): string {
  return passage ? `${passage.path} (chunk ${passage.ordinal + 1})` : label;
}

/** Maximum number of documents named. */
const NAMED = 3;

function askAgain(paused: boolean): string {
  return paused ? ' The queue is paused: resume it, then ask again.' : ' Ask again in a moment.';
}

/** A count of things in a question ("the 3 cities") rarely appears in the text that lists them. */
const LEAST_NUMBER = 10;
/** Words that a message names. */
const MOST_WORDS = 6;

/**
 * Names, numbers and dates of the question that its passages do not contain: the model makes up the rest. None are reported when the prompt
 * has passages of earlier questions, whose texts are not available here.
 */
function missingNotice(question: string, { cited, parts }: Prompt): Notice[] {
  const placed = new Set(cited.map(({ part }) => part));
  if (cited.length === 0 || parts.some(({ kind }, i) => kind === 'chunk' && !placed.has(i))) return [];
  const texts = cited.map(
    ({ chunk: { label, source, text } }) => `${label}\n${source?.title ?? ''}\n${text}`,
  );
  const missing = missingFacts(question, texts).filter(
    ({ sure, kind, forms }) => sure && !(kind === 'number' && Number(forms[0]) < LEAST_NUMBER),
  );
  if (missing.length === 0) return [];
  return [{ kind: 'missing-facts', message: `No passage contains ${anyOf(joined(question, missing))}.` }];
}

/** First and last name as one. */
function joined(question: string, facts: readonly Fact[]): string[] {
  const spans: { start: number; end: number }[] = [];
  for (const { start, end, kind } of facts) {
    const last = spans.at(-1);
    if (last && kind === 'name' && question.slice(last.end, start) === ' ') last.end = end;
    else spans.push({ start, end });
  }
  return [...new Set(spans.map(({ start, end }) => question.slice(start, end)))];
}

function anyOf(words: readonly string[]): string {
  const quoted = words.slice(0, MOST_WORDS).map((word) => `“${word}”`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
}

/** Which words no document contains, when nothing matches; '' for a question without words. */
function nowhere(question: string): string {
  const { words, pieces } = termsOf(question);
  const all = [...words, ...pieces];
  return all.length === 0 ? '' : ` None contains ${anyOf(all)}.`;
}

/** Documents in the library that the answer does not cover: why, and what to do. */
export function unreadyNotice(unready: UnreadyDocuments = { reading: 0, uncut: 0, paused: false }): Notice[] {
  const { reading, uncut, paused, matching = [] } = unready;
  const notices: Notice[] = [];
  if (matching.length > 0) {
    const names = matching.slice(0, NAMED).map(({ path }) => `“${path}”`);
    const others = reading + uncut - names.length;
    const what = `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} still being read`;
    const more =
      others > 0 ? `, and so ${others === 1 ? 'is' : 'are'} ${plural(others, 'other document')}` : '';
    return [
      { kind: paused ? 'queue-paused' : 'still-reading', message: `${what}${more}.${askAgain(paused)}` },
    ];
  }
  const pause = paused
    ? ' The queue is paused: resume it, then ask again.'
    : ' Ask again when they are ready.';
  if (reading > 0) {
    const what = `${plural(reading, 'document')} ${reading === 1 ? 'has' : 'have'} not been read yet`;
    notices.push({
      kind: paused ? 'queue-paused' : 'still-reading',
      message: `${what} and could not be searched.${pause}`,
    });
  }
  if (uncut > 0) {
    const what = `${plural(uncut, 'document')} ${uncut === 1 ? 'is' : 'are'} waiting to be prepared for this model`;
    notices.push({
      kind: paused ? 'queue-paused' : 'unprepared',
      message: `${what} and could not be searched.${pause}`,
    });
  }
  return notices;
}

/** Why the whole prompt was computed although passages are cached; none when it was not. */
export function fallbackNotice({ fellBack, reason, predictedFullMs }: Decision): Notice[] {
  if (!fellBack) return [];
  if (reason === 'quality') {
    const message =
      'The whole prompt was computed: this model was measured, and its answers change too much when cached passages are blended.';
    return [{ kind: 'not-blended', message }];
  }
  if (reason === 'watched') {
    const message =
      'The whole prompt was computed: earlier answers from these documents changed too much when cached passages were blended. “Blend again” on the Models screen undoes this.';
    return [{ kind: 'blending-stopped', message }];
  }
  const time = predictedFullMs === null ? '' : ` in about ${Math.max(1, Math.round(predictedFullMs))} ms`;
  const message = `The whole prompt was computed${time}: here that is faster than loading and blending its cached passages.`;
  return [{ kind: 'full-prefill', message }];
}

export function quarantineNotice(count: number): Notice[] {
  if (count === 0) return [];
  const message = `The cached KV of ${plural(count, 'chunk')} was damaged: it was set aside and recomputed for this answer.`;
  return [{ kind: 'quarantined', message }];
}

export function lostNotice(count: number): Notice[] {
  if (count === 0) return [];
  const message = `The cache did not deliver ${plural(count, 'chunk')} completely: computed here for this answer.`;
  return [{ kind: 'shared-lost', message }];
}

interface FinishedAnswer {
  text: string;
  thought: string;
  stop: Answer['stop'];
  stats: { answerTokens: number };
}

/** Why there is no answer, although the model reached its token limit. */
function thoughtNotice({ text, thought, stop, stats }: FinishedAnswer): Notice[] {
  if (text !== '' || thought === '' || (stop !== 'length' && stop !== 'context')) return [];
  const limit = stop === 'length' ? 'the limit' : 'the end of the context';
  const message = `The model was still thinking when it reached ${limit} after ${plural(stats.answerTokens, 'token')}, so there is no answer: allow longer answers, or let it answer without thinking.`;
  return [{ kind: 'still-thinking', message }];
}

/** DOCUMENT_WAITING where a question is most likely about a document that was not read yet. */
export function requireRead({ unready, question }: Ask, found: readonly PromptChunk[]): void {
  if (!unready) return;
  const path = obviousMatch(unready, question, found.filter(isFound));
  if (path === undefined) return;
  throw new KvasirError(
    'DOCUMENT_WAITING',
    `“${path}” is still being read, and its name matches your question better than any document that was read.`,
    unready.paused ? 'Resume the queue, then ask again.' : 'Ask again in a moment.',
  );
}

/** Why an answer ended early, or did not start. */
export function endingNotices(ended: FinishedAnswer): Notice[] {
  if (ended.stop !== 'repetition') return thoughtNotice(ended);
  return [{ kind: 'repeats', message: 'The model repeats itself, so its answer was ended.' }];
}

/** For readers who do not see how an answer ended. */
export function cutOffNotice({ text, stop, stats }: FinishedAnswer): Notice[] {
  if (text === '' || (stop !== 'length' && stop !== 'context')) return [];
  const limit = stop === 'length' ? 'limit for answers' : 'end of the context';
  const message = `The answer was cut off at the ${limit} after ${plural(stats.answerTokens, 'token')}.`;
  return [{ kind: 'cut-off', message }];
}

/** Why an answer was made without the tools of its conversation. */
export function noToolsNotice(model: string): Notice {
  const message = `${model} cannot call tools, since its chat template has none: this answer was made without them.`;
  return { kind: 'no-tools', message };
}

/** Why the model was not asked. */
export function nothingMatches(unready: UnreadyDocuments | undefined, question: string): KvasirError {
  const all = unreadyNotice(unready).length === 0;
  const what = all ? 'No passage of your documents' : 'None of the documents that are ready';
  const message = `${what} matches this question, so the model was not asked to guess.${nowhere(question)}`;
  const advice = 'Ask in other words, choose other libraries, or add documents about it.';
  return new KvasirError('NO_MATCH', message, advice);
}

function noMatch({ parts }: Prompt, unready: UnreadyDocuments | undefined): string {
  if (unready && unready.reading + unready.uncut > 0)
    return "None of the documents that are ready matches the question: this answer is the model's own.";
  return parts.some(({ kind }) => kind === 'chunk')
    ? 'No document matches this question: the answer is based only on the passages of earlier questions and the model itself.'
    : "No document matches the question: this answer is the model's own and uses none of your documents.";
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
