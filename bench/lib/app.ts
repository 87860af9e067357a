import { ConversationOptionsSchema, type AnswerStats } from '../../src-shared/contract/chat.ts';
import { App } from '../../src-main/app.ts';

/** What a person needs to read the first screen and to choose a question. */
const READING_MS = 3000;

/** The app as its hosts start it, once everything is precomputed and it has come to rest. */
export async function withApp<T>(dataDir: string, work: (app: App) => Promise<T>): Promise<T> {
  const app = await App.open({ dataDir });
  try {
    app.start();
    await app.models.current();
    await until(() => app.libraries.list().every(({ chunks, pending }) => chunks > 0 && pending === 0));
    await sleep(READING_MS);
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Begins a conversation. */
export function converse(app: App): string {
  return app.chat.create(ConversationOptionsSchema.parse({})).id;
}

/** Asks, and waits for the whole answer. */
export async function ask(app: App, conversationId: string, question: string): Promise<AnswerStats> {
  const { answerId } = app.chat.send(conversationId, question);
  await app.chat.idle();
  const answer = app.chat.get(conversationId).messages.find(({ id }) => id === answerId);
  if (!answer?.stats)
    throw new Error(`no answer to: ${question} (${answer?.failure?.message ?? answer?.state})`);
  return answer.stats;
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(100);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
