import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src-main/app.ts';
import { readLibrary } from '../../e2e/support/library.ts';
import type { LibraryPassages } from './sets.ts';

/** Passes the sample library's passages to `work`, as the app retrieves and encodes them. */
export async function withRetriever<T>(
  modelPath: string,
  work: (passages: LibraryPassages) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
  const app = await App.open({ dataDir: dir });
  try {
    const { model, ask, chunks } = await readLibrary(app, { model: modelPath });
    const text = (tokens: Int32Array): string => model.detokenize(tokens);
    const passages = [...chunks()].map(({ path, ordinal, tokens, lead }) => {
      return { document: path, chunk: ordinal, passage: text(tokens), lead: text(lead) };
    });
    const find = async (question: string): Promise<string[]> => {
      const { sources } = await ask({ question, maxTokens: 1, strategy: { name: 'none' } });
      return sources.flatMap(({ document, chunk }) => {
        const found = passages.find((each) => each.document === document && each.chunk === chunk);
        return found ? [found.passage] : [];
      });
    };
    return await work({ find, leads: new Map(passages.map(({ passage, lead }) => [passage, lead])) });
  } finally {
    await app.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
