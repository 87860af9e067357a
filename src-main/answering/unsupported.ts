import type { Notice } from '../../src-shared/answer.ts';
import type { Range } from '../../src-shared/contract/common.ts';
import type { Backend } from './backends/backend.ts';
import { missingFacts } from './facts/facts.ts';
import type { Prompt } from './prompt.ts';

/**
 * Finds names, numbers and dates of an answer that appear nowhere in its prompt: in no passage or its title, question or earlier turn.
 * undefined when there was no passage to compare it with.
 */
export function unsupportedIn(text: string, prompt: Prompt, backend: Backend): Range[] | undefined {
  if (text === '' || !prompt.parts.some(({ kind }) => kind === 'chunk')) return undefined;
  const titles = prompt.cited.map(({ chunk: { label, source } }) => `${source?.title ?? ''} ${label}`);
  return missingFacts(text, [...backend.textsOf(prompt), ...titles])
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
