import { setTimeout as sleep } from 'node:timers/promises';
import { isErrorCode } from '../../src-shared/errors.ts';
import type { RunningApp } from './running-app.ts';

const DOCUMENTS = {
  'ferry.txt': 'The ferry leaves the blue pier at seven.',
  'notes/lamp.md': '# Lamp\n\nThe lamp burns oil.',
};
const QUESTION = 'Where does Project Polaris run?';
const ANSWER = /Riga/;
const WAIT_MS = 300_000;

/** The data that was stored and must survive every fault. */
export interface Baseline {
  libraryName: string;
  conversationId: string;
  /** Texts of questions and answers. */
  messages: string[];
}

/**
 * Fills a new Kvasir with uploaded documents, a conversation with an answer, and a backup of both. Its model is calibrated, so that no
 * round calibrates it again beside its fault.
 */
export async function fill(app: RunningApp): Promise<Baseline & { backup: string }> {
  const library = await app.call('libraries.create', { name: 'Kept' });
  for (const [path, text] of Object.entries(DOCUMENTS)) await app.upload(library.id, path, text);
  await settled(app);
  const conversation = await aboutSamples(app);
  await ask(app, conversation.id);
  await until(async () => (await app.call('calibration.get', {})).calibrations[0]);
  const { messages } = await app.call('chat.get', { id: conversation.id });
  const { path: backup } = await app.call('app.backup', {});
  return {
    libraryName: library.name,
    conversationId: conversation.id,
    messages: messages.map(({ text }) => text),
    backup,
  };
}

/** Throws if data is lost or an answer is wrong. */
export async function requireKept(app: RunningApp, known: Baseline): Promise<void> {
  await requireDocuments(app);
  const { messages } = await app.call('chat.get', { id: known.conversationId });
  const texts = messages.map(({ text }) => text);
  for (const text of known.messages) if (!texts.includes(text)) throw new Error(`a message is lost: ${text}`);
  await settled(app);
  const { id } = await aboutSamples(app);
  await ask(app, id);
}

/** Checks the uploaded documents, whichever library contains them. */
export async function requireDocuments(app: RunningApp): Promise<void> {
  await settled(app);
  const found = new Map<string, string>();
  for (const library of await app.call('libraries.list', {})) {
    const { items } = await app.call('documents.list', { libraryId: library.id });
    for (const { id, path } of items)
      found.set(path, (await app.call('documents.text', { id, offset: 0, limit: 10_000 })).text);
  }
  for (const [path, text] of Object.entries(DOCUMENTS))
    if (found.get(path)?.trim() !== text) throw new Error(`the document ${path} is lost`);
}

/** A conversation about the sample library, which "all libraries" excludes once others exist. */
export async function aboutSamples(app: RunningApp): Promise<{ id: string }> {
  const libraries = await app.call('libraries.list', {});
  const libraryIds = libraries.filter(({ sample }) => sample).map(({ id }) => id);
  return app.call('chat.create', { options: { scope: { libraryIds, documentIds: [] } } });
}

/** Asks a question that the sample library answers, and throws if the answer is wrong. With `errors`, a typed error is also accepted. */
export async function ask(app: RunningApp, conversationId: string, errors = false): Promise<void> {
  const { answerId } = await app.call('chat.send', { conversationId, text: QUESTION });
  const answer = await until(async () => {
    const { messages } = await app.call('chat.get', { id: conversationId });
    const message = messages.find(({ id }) => id === answerId);
    return message && ['done', 'failed', 'stopped'].includes(message.state) ? message : undefined;
  });
  if (answer.state === 'done' && ANSWER.test(answer.text)) return;
  if (errors && answer.state === 'failed' && isErrorCode(answer.failure?.code)) return;
  throw new Error(`the answer is wrong (${answer.state}): ${answer.text} ${answer.failure?.message ?? ''}`);
}

/** Waits until every library is read, chunked and computed, including the sample library, which is created and scanned after the start. */
export async function settled(app: RunningApp): Promise<void> {
  await until(async () => {
    const libraries = await app.call('libraries.list', {});
    const ready = libraries.every(
      ({ sample, documents, pending }) => pending === 0 && (!sample || documents > 0),
    );
    const { waiting, active } = await app.call('queue.status', {});
    return libraries.length > 0 && ready && waiting + active === 0 ? true : undefined;
  });
}

export async function until<T>(look: () => Promise<T | undefined>, pauseMs = 100): Promise<T> {
  const end = Date.now() + WAIT_MS;
  while (Date.now() < end) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(pauseMs);
  }
  throw new Error('timed out');
}
