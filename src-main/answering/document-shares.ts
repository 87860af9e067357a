import type { DocumentShare } from '../../src-shared/contract/context.ts';
import { isFound, type Passages } from './passages.ts';
import type { Prompt } from './prompt.ts';

/** What a prompt contains of each document, in tokens: the passages placed for its question, those of earlier turns among them. */
export function documentShares(
  { cited }: Pick<Prompt, 'cited'>,
  passages: Pick<Passages, 'tokensOf'>,
): DocumentShare[] {
  const shares = new Map<number, DocumentShare>();
  const seen = new Set<number>();
  for (const { chunk } of cited) {
    if (!isFound(chunk) || chunk.passage.standsIn || seen.has(chunk.passage.id)) continue;
    seen.add(chunk.passage.id);
    const { documentId, path } = chunk.passage;
    const share = shares.get(documentId);
    if (share) share.readTokens += chunk.tokens.length;
    else {
      const tokens = passages.tokensOf(documentId);
      if (tokens === undefined) continue;
      shares.set(documentId, {
        documentId: String(documentId),
        path,
        readTokens: chunk.tokens.length,
        tokens,
      });
    }
  }
  return [...shares.values()];
}
