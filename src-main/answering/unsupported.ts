import type { Notice } from '../../src-shared/answer.ts';
import type { Range } from '../../src-shared/contract/common.ts';
import type { FusionModel } from '../fusion/model.ts';
import { missingFacts } from './facts/facts.ts';
import type { Offered, Prompt } from './prompt.ts';

/** The texts that an answer could know a fact from, besides its prompt. */
interface Beside {
  titles: readonly string[];
}

/**
 * Where an answer names, counts or dates something that stands nowhere in its prompt: in no passage, question or turn before. undefined
 * where there was no passage to hold it against.
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
