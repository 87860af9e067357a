/** Questions that are answered by computing over a table, with a model on a server that writes the statements it is told to. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { removeDir, tempDir, writeFiles } from './cli-support.ts';
import { readyLibrary } from './support/ready-library.ts';
import { hostileServer, stream, type HostileServer } from './support/hostile-server.ts';

const EVERYTHING = { scope: { libraryIds: [], documentIds: [] } };
const TOWNS = 'Town;Region;Toll\nOrm;North;1,50 €\nHollin;South;2,00 €\nEsk;North;0,50 €\n';
const SQL = `SELECT SUM("Toll") FROM "Table" WHERE "Region" = 'North'`;
const QUESTION = 'What is the total toll of the towns in the region North?';

let dir: string;
let server: HostileServer;
let app: App;
let statement = SQL;

beforeAll(async () => {
  dir = tempDir();
  server = await hostileServer();
  server.answer = (response, { body }) => {
    const asked = body.messages?.at(-1)?.content ?? '';
    stream(response, [asked.startsWith('Write one SQLite SELECT') ? statement : 'It is 2 €.']);
  };
  app = await App.open({ dataDir: dir, overrides: { maxTokens: 24, chunkTokens: 64 } });
  const asked = AddedServerSchema.parse({ address: server.address, model: 'big', key: 'k' });
  await app.loader.activate((await app.models.addServer(asked)).id);
  app.start();
  await readyLibrary(app, 'Towns', writeFiles(join(dir, 'docs'), { 'towns.csv': TOWNS }));
});
afterAll(async () => {
  await app.close();
  await server.close();
  removeDir(dir);
});

async function ask(question: string): Promise<Message> {
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, question);
  await app.chat.idle();
  return app.chat.get(id).messages.find((message) => message.id === answerId)!;
}

test('the result is the first passage, and its source is the sheet', async () => {
  const { text, citations } = await ask(QUESTION);
  expect(text).toBe('It is 2 €.');
  const [computed, row] = citations;
  expect(computed).toMatchObject({ path: 'towns.csv', reason: 'computed 3', documentId: row?.documentId });
  expect(computed?.text).toBe(
    `Computed from 3 rows of towns.csv:\n${SQL}\nResult:\n- SUM(Toll): 2\nToll is in €.`,
  );
  expect(row?.text).toContain('- Town: Orm; Region: North; Toll: 1,50 €');
  const answered = server.heard.at(-1)?.body.messages?.at(-1)?.content ?? '';
  expect(answered.indexOf('- SUM(Toll): 2')).toBeLessThan(answered.indexOf('- Town: Orm'));
  expect(answered).toContain('- SUM(Toll): 2');
});

test('programs that ask the library get it too', async () => {
  const prompt = { messages: [{ role: 'user' as const, parts: [{ text: QUESTION }] }] };
  const { signal } = new AbortController();
  const { citations } = await app.completions.complete({ model: 'kvasir/Towns', prompt }, { signal });
  expect(citations[0]?.reason).toBe('computed 3');
});

test('a statement that fails, and another kind of question, are answered from the passages', async () => {
  statement = 'SELECT "Population" FROM "Table"';
  const failed = await ask(QUESTION);
  expect(failed.text).toBe('It is 2 €.');
  expect(failed.citations.some(({ reason }) => reason.startsWith('computed'))).toBe(false);
  statement = SQL;
  const before = server.heard.length;
  const other = await ask('In which region is the town Orm?');
  expect(server.heard.length - before).toBe(1);
  expect(other.citations.some(({ reason }) => reason.startsWith('computed'))).toBe(false);
});
