import type { Workspace } from '../../src-main/app.ts';
import type { Segment } from '../../src-main/engine/engine.ts';

/**
 * Answers a question through the app, for what it appends to make the prompt: `take` is given that while its chunks are there (their
 * leases end with the answer). undefined when the app asks the model nothing, since it finds no passage.
 */
export async function fromPrompt<T>(
  { model, answers }: Workspace,
  request: { question: string; topK?: number | undefined },
  take: (segments: Segment[]) => T | Promise<T>,
): Promise<T | undefined> {
  const create = model.createSession.bind(model);
  let taken: T | undefined;
  model.createSession = (capacity) => {
    const session = create(capacity);
    const append = session.append.bind(session);
    session.append = async (segments, strategy, options) => {
      taken = await take(segments);
      return append(segments, strategy, options);
    };
    return session;
  };
  try {
    await answers.answer({ ...request, maxTokens: 1, strategy: { kind: 'none' } });
  } finally {
    model.createSession = create;
  }
  return taken;
}
