import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src-main/app.ts';
import { fromPrompt } from '../lib/app-prompts.ts';
import type { LibraryPassages } from './sets.ts';

/** Passes the sample library's passages to `work`, as the app retrieves and encodes them. */
export async function withRetriever<T>(
  modelPath: string,
  work: (passages: LibraryPassages) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
  const app = await App.open({ dataDir: dir });
  try {
    const workspace = await app.workspaces.open({ root: app.paths.sampleLibrary, modelPath });
    await workspace.library.drain();
    const { topK } = app.settings.current;
    const find = async (question: string): Promise<string[]> =>
      (await fromPrompt(workspace, { question, topK }, (segments) =>
        segments.flatMap((segment) =>
          segment.kind === 'chunk' ? [workspace.model.detokenize(segment.chunk.tokens)] : [],
        ),
      )) ?? [];
    const text = (tokens: Int32Array): string => workspace.model.detokenize(tokens);
    const leads = new Map(
      [...workspace.library.chunks()].map(({ tokens, lead }) => [text(tokens), text(lead)]),
    );
    return await work({ find, leads });
  } finally {
    await app.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
