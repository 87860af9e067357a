import type { Workspace } from '../../src-main/app.ts';
import type { Segment } from '../../src-main/engine/engine.ts';

/**
 * Asks the app a question and passes the engine input of its prompt to `take` while the chunks are leased (leases end with the answer).
 * Undefined if the app finds no passage and thus does not run the model.
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
