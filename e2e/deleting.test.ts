/** What a person deletes is in no file of the data folder any more: the real program with its databases, index, cache and log. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import SQLite from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ContractClient } from '../src-shared/contract/client.ts';
import { withApp } from '../tools/faults/disk/check.ts';
import { settled } from '../tools/faults/disk/contents.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { readyData } from './support/ready-data.ts';

/** The log is emptied half a minute after the last write. */
const PATIENCE_MS = 120_000;

/** Each is only in what its name says. */
const WORDS = {
  document: 'zqvdocumentwordx',
  title: 'zqvtitlewordx',
  library: 'zqvlibrarywordx',
  question: 'zqvquestionwordx',
};
type Subject = keyof typeof WORDS;

/**
 * The word as files may have it: the index leaves out letters that a word has in common with the one before it, but hardly more than three.
 */
function needles(word: string): Buffer[] {
  const rest = word.slice(3);
  return [Buffer.from(rest), Buffer.from(rest, 'utf16le')];
}

/** Files of the data folder that contain any of these, by name. */
function filesWith(data: string, parts: readonly Buffer[]): string[] {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      if (!existsSync(path)) return false; // a log that was removed meanwhile
      const bytes = readFileSync(path);
      return parts.some((part) => bytes.includes(part));
    })
    .map((path) => path.slice(data.length + 1));
}

/** Compressed values, of which a search for words says nothing. */
function blobs(data: string, name: string, query: string): Buffer[] {
  const database = new SQLite(join(data, name), { readonly: true });
  try {
    return database.prepare<[], Buffer>(query).pluck().all();
  } finally {
    database.close();
  }
}

async function upload(app: { libraries: Uploads }, id: string, name: string, text: string): Promise<string> {
  return app.libraries.receiveUpload(id, name, Readable.from([text]));
}
interface Uploads {
  receiveUpload(libraryId: string, path: string, content: Readable): Promise<string>;
}

async function answered(client: ContractClient, libraryId: string, text: string): Promise<string> {
  const options = { scope: { libraryIds: [libraryId], documentIds: [] } };
  const { id } = await client.call('chat.create', { options });
  await client.call('chat.send', { conversationId: id, text });
  await vi.waitFor(
    async () => {
      const { messages } = await client.call('chat.get', { id });
      expect(messages.at(-1)?.state).toBe('done');
    },
    { timeout: PATIENCE_MS, interval: 100 },
  );
  return id;
}

test(
  'a deleted document, library or conversation is in no file of the data folder',
  { timeout: 4 * PATIENCE_MS },
  async () => {
    const dir = tempDir();
    onTestFinished(() => removeDir(dir));
    const data = await readyData(join(dir, 'data'));
    const ids = { document: '', library: '', conversation: '' };
    const packed: Record<'texts' | 'turns', Buffer[]> = { texts: [], turns: [] };
    const left = (subject: Subject): string[] => filesWith(data, needles(WORDS[subject]));

    await withApp(data, async (app, client) => {
      await client.call('settings.update', { welcomed: true, threads: 1, watchAnswers: false });
      app.start();
      await settled(client);
      const kept = await client.call('libraries.create', { name: 'Kept' });
      const doomed = await client.call('libraries.create', { name: 'Doomed' });
      ids.library = doomed.id;
      await upload(app, kept.id, 'ferry.txt', 'The ferry leaves the blue pier at seven.');
      const text = `The ${WORDS.document} is painted yellow. `.repeat(40);
      ids.document = await upload(app, kept.id, `${WORDS.title}.txt`, text);
      await upload(app, doomed.id, 'lamp.txt', `The lamp of ${WORDS.library} burns oil.`);
      await settled(client);
      const sample = (await client.call('libraries.list')).find((library) => library.sample);
      ids.conversation = await answered(client, sample?.id ?? '', `Where is Polaris? ${WORDS.question}`);
      const ofDocument = `SELECT data FROM text_block WHERE document_id = ${ids.document}`;
      packed.texts = blobs(data, 'catalogue.sqlite', ofDocument);
      packed.turns = [
        ...blobs(data, 'conversations.sqlite', 'SELECT context FROM message WHERE context IS NOT NULL'),
        ...blobs(data, 'conversations.sqlite', 'SELECT body FROM report'),
      ].map((blob) => blob.subarray(-64)); // the beginnings of gzip streams are alike
    });
    for (const subject of Object.keys(WORDS) as Subject[]) expect(left(subject), subject).not.toEqual([]);
    for (const parts of Object.values(packed)) expect(filesWith(data, parts)).not.toEqual([]);

    await withApp(data, async (app, client) => {
      app.start();
      await settled(client);
      await client.call('documents.delete', { ids: [ids.document] });
      await client.call('libraries.delete', { id: ids.library });
      await client.call('chat.delete', { id: ids.conversation });
      const soon = { timeout: PATIENCE_MS, interval: 1000 };
      for (const subject of ['document', 'title', 'library'] as const)
        await expect.poll(() => left(subject), { ...soon, message: subject }).toEqual([]);
      await expect.poll(() => filesWith(data, packed.texts), soon).toEqual([]);
      expect((await client.call('chat.restore', { id: ids.conversation })).messages).toHaveLength(2);
      await client.call('chat.delete', { id: ids.conversation });
    });

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3600 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    await withApp(data, async (app, client) => {
      app.start();
      const soon = { timeout: PATIENCE_MS, interval: 1000 };
      await expect.poll(() => left('question'), soon).toEqual([]);
      await expect.poll(() => filesWith(data, packed.turns), soon).toEqual([]);
      await expect(client.call('chat.restore', { id: ids.conversation })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    });
  },
);
