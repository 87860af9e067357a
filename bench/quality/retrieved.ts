import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src-main/app.ts';

/** How the app finds passages of the sample library: the texts of a prompt's chunks, in its order. */
export async function retrieverOf(modelPath: string): Promise<(question: string) => Promise<string[]>> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
  const app = await App.open({ dataDir: dir });
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const { model, library, answers } = await app.workspaces.open({ root: app.paths.sampleLibrary, modelPath });
  await library.drain();
  let passages: string[] = [];
  const create = model.createSession.bind(model);
  model.createSession = (capacity) => {
    const session = create(capacity);
    const append = session.append.bind(session);
    session.append = (segments, strategy, options) => {
      passages = segments.flatMap((segment) =>
        segment.kind === 'chunk' ? [model.detokenize(segment.chunk.tokens)] : [],
      );
      return append(segments, strategy, options);
    };
    return session;
  };
  return async (question) => {
    passages = [];
    await answers.answer({
      question,
      topK: app.settings.current.topK,
      maxTokens: 1,
      strategy: { kind: 'none' },
    });
    return passages;
  };
}
