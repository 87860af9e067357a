import type { Notice } from '../../src-shared/answer.ts';
import type { Range } from '../../src-shared/contract/common.ts';
import type { FusionModel } from '../fusion/model.ts';
import { missingFacts } from './facts/facts.ts';
import type { Offered, Prompt } from './prompt.ts';

/** The texts other than the prompt from which an answer could know a fact. */
interface Beside {
  titles: readonly string[];
}

/**
 * Finds names, numbers and dates of an answer that appear nowhere in its prompt: in no passage, question or earlier turn. undefined when
 * there was no passage to compare it with.
 */
export function unsupportedIn(
  text: string,
  { parts }: Prompt<Offered>,
  model: Pick<FusionModel, 'detokenize'>,
  { titles }: Beside,
): Range[] | undefined {
  if (text === '' || !parts.some(({ kind }) => kind === 'chunk')) return undefined;
  const said = parts.flatMap(({ lead, tokens }) => [
    ...(lead ? [model.detokenize(lead)] : []),
    model.detokenize(tokens),
  ]);
  return missingFacts(text, [...said, ...titles])
    .filter(({ sure }) => sure)
    .map(({ start, end }) => ({ start, end }));
}

/** The same for readers who see no marks in the answer. */
export function unsupportedNotice(text: string, ranges: readonly Range[] = []): Notice[] {
  const facts = [...new Set(ranges.map(({ start, end }) => text.slice(start, end)))];
  if (facts.length === 0) return [];
  const message = `Not in the passages: ${facts.map((fact) => `“${fact}”`).join(', ')}. The model may have made this up.`;
  return [{ kind: 'unsupported', message }];
}
