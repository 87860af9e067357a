/** Answers of conversations that call Kvasir's own tools: with a scripted model on a server, and with the demo model in the real engine. */
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AnswerMaker, readAnswer } from '../src-main/answering/answer.ts';
import { choicesOf } from '../src-main/answering/choices.ts';
import { libraryPassages } from '../src-main/answering/library-passages.ts';
import { SessionTokens } from '../src-main/answering/session-tokens.ts';
import { Stopwatch } from '../src-main/answering/stopwatch.ts';
import { usableTools } from '../src-main/answering/tools/usable-tools.ts';
import type { ToolCall } from '../src-main/answering/tools.ts';
import { App } from '../src-main/app.ts';
import { systemClock } from '../src-main/platform/clock.ts';
import { TOOL_TEMPLATE } from '../src-main/testing/chat-templates.ts';
import { ownTools } from '../src-main/tools/own/own-tools.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import { removeDir, tempDir, writeFiles } from './cli-support.ts';
import { readyLibrary } from './support/ready-library.ts';
import { withMetadata } from './support/gguf-metadata.ts';
import { hostileServer, stream, type HostileServer } from './support/hostile-server.ts';

const DEMO_FILE = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');
const ALL = { libraryIds: [], documentIds: [] };
const DOCUMENTS = {
  'towns.csv': 'Town;Region;Toll\nOrm;North;1,50 €\nHollin;South;2,00 €\nEsk;North;0,50 €\n',
  'mara.md': '# People\n\nMara Lind is an engineer. She works in the Oslo office.\n',
};
const SQL = `SELECT SUM("Toll") FROM "Table" WHERE "Region" = 'North'`;

let dir: string;
let server: HostileServer;
let app: App;

async function openApp(): Promise<App> {
  const opened = await App.open({ dataDir: dir, overrides: { maxTokens: 60, chunkTokens: 64 } });
  opened.start();
  return opened;
}

beforeAll(async () => {
  dir = tempDir();
  server = await hostileServer();
  app = await openApp();
  const asked = AddedServerSchema.parse({ address: server.address, model: 'big', key: 'k' });
  await app.loader.activate((await app.models.addServer(asked)).id);
  await readyLibrary(app, 'Docs', writeFiles(join(dir, 'docs'), DOCUMENTS));
});
afterAll(async () => {
  await app.close();
  await server.close();
  removeDir(dir);
});

function call(response: ServerResponse, name: string, args: object): void {
  const called = { index: 0, id: 'call_0', type: 'function', function: { name, arguments: JSON.stringify(args) } }; // prettier-ignore
  const chunk = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ tool_calls: [called] }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
}

test('a model on a server searches, reads, queries a table and calculates; the calls survive a restart', async () => {
  const calls: [string, object][] = [
    ['search_documents', { query: 'Where does Mara Lind work?' }],
    ['read_document', { document: 'mara.md', length: 10 }],
    ['query_table', { document: 'towns.csv', sql: SQL }],
    ['query_table', { document: 'towns.csv', sql: 'SELECT "Mayor" FROM "Table"' }],
    ['calculate', { expression: '2 * 19%' }],
    ['date', {}],
  ];
  const left = [...calls];
  server.answer = (response) => {
    const next = left.shift();
    if (next) call(response, ...next);
    else stream(response, ['It is 2 €.']);
  };
  const { id } = app.chat.create({ scope: ALL, tools: ['kvasir'] });
  const { answerId } = app.chat.send(id, 'Which tools are there?');
  await app.chat.idle();
  const answer = () => app.chat.get(id).messages.find((message) => message.id === answerId)!;
  const first = answer();
  expect(first).toMatchObject({ state: 'done', text: 'It is 2 €.', failure: null });
  expect(first.calls.map(({ name, state }) => [name, state])).toEqual(
    calls.map(([name], i) => [name, i === 3 ? 'failed' : 'done']),
  );
  expect(new Set(first.calls.map((each) => each.id)).size).toBe(calls.length);
  const results = first.calls.map(({ result }) => result ?? '');
  expect(results[0]).toMatch(/mara\.md, from character \d+:\n[^]*Oslo office/);
  expect(results[1]).toMatch(/^mara\.md, characters 0 to 10 of \d+:\n/);
  expect(results[2]).toBe('SUM("Toll")\n2');
  expect(results[3]).toMatch(/Mayor/);
  expect(results[4]).toBe('2 * 19% = 0.38');
  expect(results[5]).toMatch(/^Today is \w+day, \d{4}-/);
  const told = server.heard.at(-1)?.body.messages ?? [];
  expect(told.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(results);
  const declared = server.heard.at(-1)?.body['tools'] as { function: { name: string } }[];
  expect(declared.map((tool) => tool.function.name)).toContain('search_documents');

  await app.close();
  app = await openApp();
  expect(answer().calls).toEqual(first.calls);
});

test('the demo model searches, and answers from what it found in the same session', async () => {
  const file = join(dir, 'tools.gguf');
  const key = 'tokenizer.chat_template';
  // The demo model was trained on questions behind their passages, without marks around them.
  const template = TOOL_TEMPLATE.replace(/'<tool_response>.*? \}\}/, "message.content + '\\n' }}");
  withMetadata(DEMO_FILE, file, { without: key, values: { [key]: template } });
  const { id } = await app.models.import(file, { name: 'Tools' });
  await app.loader.activate(id);
  const { model, name } = await app.localModels.current();
  const passages = libraryPassages(app.catalogue, app.loader);
  const maker = new AnswerMaker({ ...app, retrieval: app.search, passages });
  const source = ownTools({ ...app, retrieval: app.search, passages });
  const signal = new AbortController().signal;
  const [own] = await source.tools(signal, []);
  // Such a small model would write a query without end.
  const query = { type: 'string', enum: ['Mara Lind', 'Jon Berg'] };
  const search = { ...own!, parameters: { type: 'object', properties: { query }, required: ['query'] } };
  const question = 'Question: Where does Mara Lind work?';
  const called: ToolCall[] = [];
  const lengths: number[] = [];
  const session = new SessionTokens(app.chat.openSession(model, 1024));
  const choices = { ...choicesOf({ temperature: 0, maxTokens: 120 }, app.settings.current, model, app.planner), contextTokens: 1024 }; // prettier-ignore
  try {
    const made = await readAnswer(
      maker.answer({
        ...{
          model,
          name,
          question: '',
          form: 'conversation',
          reserve: 1,
          requestClass: 'test',
          mayGuess: true,
        },
        messages: [{ role: 'user', pieces: [question] }],
        choices,
        // The demo model does not decide by itself to call, or to stop.
        tools: { ...usableTools({ name, model }, [search], false)!, choice: 'required', parallel: false },
        runCalls: async (calls) => {
          called.push(...calls);
          const { text } = await search.run(JSON.parse(calls[0]!.arguments) as { query: string }, {
            signal,
            scope: ALL,
          });
          return calls.map(() => `${text.split('\n').at(-1) ?? ''}\n\n${question}`);
        },
        stopwatch: new Stopwatch(systemClock),
        before: { retrieve: 0 },
        openSession: ({ parts }) => {
          lengths.push(session.reusable(parts, choices.strategy), session.count);
          return session;
        },
      }),
      () => undefined,
    );
    expect(made.stop).toBe('eos');
    expect(called.map((each) => each.name)).toEqual(['search_documents']);
    expect(JSON.parse(called[0]!.arguments)).toEqual({ query: 'Mara Lind' });
    expect(made.text).toMatch(/Oslo/);
    // The second prompt begins with all that the first step left.
    const [, empty, reused, held] = lengths;
    expect(empty).toBe(0);
    expect(reused).toBe(held);
    expect(held).toBeGreaterThan(0);
  } finally {
    session.dispose();
  }
});
