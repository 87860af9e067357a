import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src-main/app.ts';
import { fromPrompt } from '../lib/app-prompts.ts';

/** Gives `work` the way in which the app finds passages of the sample library: the texts of a prompt's chunks, in its order. */
export async function withRetriever<T>(
  modelPath: string,
  work: (find: (question: string) => Promise<string[]>) => Promise<T>,
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
    return await work(find);
  } finally {
    await app.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
