import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../../src-main/app.ts';
import { createApi } from '../../../src-main/api/api.ts';
import { createHandlers } from '../../../src-main/api/handlers.ts';
import { ContractClient } from '../../../src-shared/contract/client.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { starvedMs } from './layer.ts';

/** What Kvasir has accepted. */
export type Acceptance =
  | { kind: 'document'; path: string; text: string }
  | { kind: 'message'; conversationId: string; text: string }
  | { kind: 'backup'; path: string }
  | { kind: 'setting'; memoryBudgetBytes: number }
  | { kind: 'model'; path: string }
  | { kind: 'download'; url: string };

/** Below a round's folder, beside each other: what Kvasir changes. */
export const dataIn = (root: string): string => join(root, 'data');
/** A folder of people's that chunks may be stored in, too. */
export const driveIn = (root: string): string => join(root, 'drive');

const QUESTION = 'Where does Project Polaris run?';
/** Nothing that depends on measured times: the same chunks give the same answer. */
const FIXED = { strategy: { name: 'query', ratio: 0.15 }, temperature: 0, seed: 0 } as const;
const DOCUMENTS = {
  'ferry.txt': 'The ferry leaves the blue pier at seven.',
  'lamp.md': '# Lamp\n\nThe lamp burns oil.',
};
/** Shorter than the campaign's limit for a hanging process, and longer than two retries of the queue. */
const SETTLED_MS = 60_000;

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

/** Waits until every library is read and computed. Rejects with what blocks the queue; with an error that is a defect if nothing does. */
export async function settled(client: ContractClient): Promise<void> {
  const now = (): number => performance.now() - starvedMs('self');
  for (const end = now() + SETTLED_MS; ;) {
    const libraries = await client.call('libraries.list');
    const unread = libraries.filter(
      ({ sample, documents, pending }) => pending > 0 || (sample && documents === 0),
    );
    const { waiting, active, blocked } = await client.call('queue.status');
    if (libraries.length > 0 && unread.length === 0 && waiting + active === 0) return;
    if (now() < end) {
      await sleep(20);
      continue;
    }
    if (blocked) throw new KvasirError(blocked.code, blocked.message, blocked.advice);
    const what = JSON.stringify({ libraries: libraries.length, unread, waiting, active });
    throw new Error(`not settled within ${SETTLED_MS / 1000} s: ${what}`);
  }
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

/** Waits until a download has become a model. Its failure. */
export async function downloaded(client: ContractClient, url: string): Promise<void> {
  for (;;) {
    const download = (await client.call('models.downloads')).find((each) => each.url === url);
    if (!download || download.state === 'done') return;
    if (download.failure)
      throw new KvasirError(download.failure.code, download.failure.message, download.failure.advice);
    await sleep(10);
  }
}
