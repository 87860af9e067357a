import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../../src-main/app.ts';
import { createApi } from '../../../src-main/api/api.ts';
import { createHandlers } from '../../../src-main/api/handlers.ts';
import { ContractClient } from '../../../src-shared/contract/client.ts';
import { KvasirError } from '../../../src-shared/errors.ts';

/** What Kvasir has accepted. */
export type Acceptance =
  | { kind: 'document'; path: string; text: string }
  | { kind: 'message'; conversationId: string; text: string }
  | { kind: 'backup'; path: string };

const QUESTION = 'Where does Project Polaris run?';
/** Nothing that depends on measured times: the same chunks give the same answer. */
const FIXED = { strategy: { name: 'query', ratio: 0.15 }, temperature: 0, seed: 0 } as const;
const DOCUMENTS = {
  'ferry.txt': 'The ferry leaves the blue pier at seven.',
  'lamp.md': '# Lamp\n\nThe lamp burns oil.',
};
const SETTLED_MS = 120_000;

/** A client of the core in this process, as a window is. */
export function clientOf(app: App): ContractClient {
  const api = createApi(createHandlers(app, { kind: 'server' }), app.log);
  return new ContractClient({ ...api, onEvent: (listener) => app.events.on(listener) });
}

/** Fills a new data folder: documents of a folder beside it, a conversation, a calibration, and everything computed. */
export async function fill(app: App, client: ContractClient, data: string): Promise<Acceptance[]> {
  const kept: Acceptance[] = [];
  await client.call('settings.update', { welcomed: true, threads: 1, watchAnswers: false });
  const folder = `${data}-documents`;
  mkdirSync(folder);
  for (const [path, text] of Object.entries(DOCUMENTS)) {
    writeFileSync(join(folder, path), text);
    kept.push({ kind: 'document', path, text });
  }
  app.start();
  await client.call('libraries.read', { path: folder });
  await settled(client);
  await ask(client, (each) => kept.push(each));
  while ((await client.call('calibration.get')).calibrations.length === 0) await sleep(100);
  return kept;
}

/** Waits until every library is read and computed. */
export async function settled(client: ContractClient, limitMs = SETTLED_MS): Promise<void> {
  for (const end = Date.now() + limitMs; Date.now() < end;) {
    const libraries = await client.call('libraries.list');
    const isRead = libraries.every(
      ({ sample, documents, pending }) => pending === 0 && (!sample || documents > 0),
    );
    const { waiting, active } = await client.call('queue.status');
    if (libraries.length > 0 && isRead && waiting + active === 0) return;
    await sleep(20);
  }
  throw new KvasirError('ABORTED', 'The queue did not end.');
}

/** Asks what the sample library answers, and returns the answer. The answer's failure. */
export async function ask(client: ContractClient, promise: (promised: Acceptance) => void): Promise<string> {
  const libraries = await client.call('libraries.list');
  const libraryIds = libraries.filter(({ sample }) => sample).map(({ id }) => id);
  const { id } = await client.call('chat.create', {
    options: { scope: { libraryIds, documentIds: [] }, ...FIXED },
  });
  const { answerId } = await client.call('chat.send', { conversationId: id, text: QUESTION });
  promise({ kind: 'message', conversationId: id, text: QUESTION });
  for (;;) {
    const { messages } = await client.call('chat.get', { id });
    const answer = messages.find((message) => message.id === answerId);
    if (!answer) throw new Error('the answer is gone');
    if (answer.failure)
      throw new KvasirError(answer.failure.code, answer.failure.message, answer.failure.advice);
    if (answer.state === 'done') {
      promise({ kind: 'message', conversationId: id, text: answer.text });
      return JSON.stringify([answer.text, answer.citations.map(({ path, text }) => [path, text])]);
    }
    await sleep(10);
  }
}
