import type { TextKind } from '../../src-shared/contract/calibration.ts';
import { CLIENT_TEXT } from '../../src-shared/contract/watching.ts';
import type { PromptPart } from './blender.ts';

/** Measurements with one kind of text do not apply to another (decision 0247). A prompt without chunks counts as a library's. */
export function textKindOf(parts: readonly PromptPart[]): TextKind {
  const chunks = parts.filter(({ kind }) => kind === 'chunk');
  if (chunks.some(isClients)) return 'client';
  return chunks.length === 0 || chunks.some(({ lead }) => (lead?.length ?? 0) > 0) ? 'headings' : 'alone';
}

/** Libraries whose text is in the chunks of a prompt; other programs' text counts as one more. */
export function libraryIdsOf(parts: readonly Pick<PromptPart, 'kind' | 'source'>[]): string[] {
  const chunks = parts.filter(({ kind }) => kind === 'chunk');
  return [
    ...new Set(chunks.flatMap((part) => (isClients(part) ? CLIENT_TEXT : (part.source?.libraryId ?? [])))),
  ];
}

function isClients({ source }: Pick<PromptPart, 'source'>): boolean {
  return source?.libraryId === null;
}
