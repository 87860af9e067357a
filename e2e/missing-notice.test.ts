/** Names in a question that no passage contains are reported before the answer; names that occur in any form are not. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { published, SMOLLM2_FILE } from '../tools/models/files.ts';
import { removeDir, tempDir, writeFiles } from './cli-support.ts';
import { FULL } from './support/full.ts';
import { readLibrary, type ReadLibrary } from './support/library.ts';
import { TEN_DOCUMENTS } from './support/ten-documents.ts';

const ANSWERED = [
  'How much does the zebra barn cost per year?',
  'Who lets the zebra barn?',
  'Does Maria Gruber let the barn to the Oslo Zoo?',
  'Is the rent 4.250 EUR?',
  'Since 2024-05-01, who has the barn?',
  'Where does the Aurora sail from?',
  'Does the ferry leave Bergen at 2:30 pm?',
  'What does a ticket to Stavanger cost?',
  'When does Aurora arrive?',
  'How long does the bread bake?',
  'Is 500g of flour enough for bread?',
  'How much salt is in the bread?',
  'Who was present on March 3rd, 2025?',
  'Was a budget of 1,200,000 euros approved?',
  'Was Ada Dahl present at the board?',
  'What did Berg’s board approve?',
  'What voltage does the KX400 need?',
  'What does error E17 mean?',
  'How often is the filter of the pump cleaned?',
  'What does Nordlys charge for lamps?',
  'When is invoice 2025-118 due?',
  'Are 40 lamps 500 euros?',
  'When was the lighthouse of Lindesnes first lit?',
  'Is the tower from 1915 of iron?',
  'How many days of leave do Nordlys employees have?',
  'Who gets requests for leave?',
  'Which flight goes to Lisbon?',
  'Does TP537 leave on 9.6.2025?',
  'In which quarter of Lisbon is the hotel?',
  'How many apple trees does Jon Berg have?',
];

const UNANSWERED: [question: string, missing: string][] = [
  ['How much will the barn cost Tesla in 2031?', 'No passage contains “Tesla” or “2031”.'],
  ['What is the rent of the barn for Peter Falk?', 'No passage contains “Peter Falk”.'],
  ['When does the ferry leave Trondheim?', 'No passage contains “Trondheim”.'],
  ['What did the board approve on 7 July 2026?', 'No passage contains “7 July 2026”.'],
  ['Which voltage does the pump ZR-900 need?', 'No passage contains “ZR-900”.'],
  ['What does error E42 mean?', 'No passage contains “E42”.'],
  ['How much is invoice 2031-777?', 'No passage contains “2031” or “777”.'],
  ['Was the lighthouse lit in 1492?', 'No passage contains “1492”.'],
  ['Which flight goes to Buenos Aires?', 'No passage contains “Buenos Aires”.'],
  ['Does “Midnight Express” leave from Munich?', 'No passage contains “Midnight Express”.'],
];

const ROOT = join(import.meta.dirname, '..');
/** The second model is published, and tested only if it has been downloaded; the short form asks it a quarter of the questions. */
const MODELS = [join(ROOT, 'resources', 'models', 'kvasir-demo.gguf'), published(SMOLLM2_FILE)].flatMap(
  (path, i) => (path === undefined ? [] : [{ path, every: i === 0 || FULL ? 1 : 4 }]),
);

describe.each(MODELS)('$path', ({ path, every }) => {
  const some = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % every === 0);
  let dir: string;
  let app: App;
  let library: ReadLibrary;

  beforeAll(async () => {
    dir = tempDir();
    const docs = writeFiles(join(dir, 'docs'), TEN_DOCUMENTS);
    app = await App.open({ dataDir: join(dir, 'data'), overrides: { maxTokens: 4 } });
    library = await readLibrary(app, { path: docs, model: path, precompute: false });
  });
  afterAll(async () => {
    await app.close();
    removeDir(dir);
  });

  /** The notice before the answer. */
  async function noticeOf(question: string): Promise<string | undefined> {
    const answer = await library.message({ question });
    expect(answer.citations.length).toBeGreaterThan(0);
    return answer.notices.find(({ kind }) => kind === 'missing-facts')?.message;
  }

  test.each(some(ANSWERED))('"%s" has no missing names', async (question) => {
    expect(await noticeOf(question)).toBeUndefined();
  });

  test.each(some(UNANSWERED))('missing names of "%s" are listed', async (question, message) => {
    expect(await noticeOf(question)).toBe(message);
  });
});
