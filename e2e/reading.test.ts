/** What general and follow-up questions read of ten documents, and what is said about it. A plan needs no answer. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextEstimate } from '../src-shared/contract/context.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { App } from '../src-main/app.ts';
import { published, SMOLLM2_FILE } from '../tools/models/files.ts';
import { removeDir, tempDir, writeFiles } from './cli-support.ts';
import { readLibrary, type ReadLibrary } from './support/library.ts';
import { TEN_DOCUMENTS } from './support/ten-documents.ts';

const GENERAL = [
  'Summarise these documents.',
  'What is this about?',
  'List all people that are named.',
  'Compare the first document with the second.',
  'Give me an overview.',
  'What are the main topics?',
  'Which of them mention money?',
  'tl;dr',
  'What should I know?',
  'Explain everything briefly.',
  'Make a table of contents.',
  'Which sentence is the longest?',
  'Fasse zusammen.',
  'Worum geht es?',
  'Welche Personen werden genannt?',
  'Vergleiche die Dokumente.',
  'De quoi s’agit-il ?',
  'Résume ces documents.',
  '¿De qué trata esto?',
  'Resume los textos.',
  '这是关于什么的？',
  '总结一下。',
  '要約してください。',
  'О чём это?',
];
const SPECIFIC = 'How much does the zebra barn cost per year?';
/** A passage has its one telling word. */
const NAMED = 'And who lets it?';
const FOLLOW_UPS = [
  'And in German?',
  'the second one?',
  'Und auf Deutsch?',
  'Shorter, please.',
  'Why?',
  NAMED,
  '再短一点。',
  'Et en français ?',
];

const ROOT = join(import.meta.dirname, '..');
const DEMO = join(ROOT, 'resources', 'models', 'kvasir-demo.gguf');
/** The second model is published, and tested only if it has been downloaded. */
const MODELS = [DEMO, published(SMOLLM2_FILE)].filter((path) => path !== undefined);

/** Busy machines compute slowly. */
const READ_MS = 300_000;

/** Ten documents, read for a model as a command does: nothing is computed in the background. */
class Library {
  readonly #dir = tempDir();
  #app: App | undefined;
  #read: ReadLibrary | undefined;

  async open(model: string, overrides: { contextTokens?: number } = {}): Promise<void> {
    const path = writeFiles(join(this.#dir, 'docs'), TEN_DOCUMENTS);
    this.#app = await App.open({
      dataDir: join(this.#dir, 'data'),
      overrides: { maxTokens: 4, ...overrides },
    });
    this.#read = await readLibrary(this.#app, { path, model, precompute: false });
  }

  async close(): Promise<void> {
    await this.#app?.close();
    removeDir(this.#dir);
  }

  get #library(): ReadLibrary {
    if (!this.#read) throw new Error('not open');
    return this.#read;
  }

  get options() {
    return { scope: { libraryIds: [this.#library.libraryId], documentIds: [] } };
  }

  estimate(text: string, conversationId: string | null = null): Promise<ContextEstimate | null> {
    return this.#library.profile.chat.estimate({ conversationId, options: this.options, text });
  }

  async ask(text: string): Promise<{ id: string; answer: Message }> {
    const { chat } = this.#library.profile;
    const { id } = chat.create(this.options);
    const { answerId } = chat.send(id, text);
    await chat.idle();
    return { id, answer: chat.get(id).messages.find((message) => message.id === answerId)! };
  }

  /** Tokens of each document. */
  tokens(): Map<string, number> {
    const { chunkSetId, libraryId } = this.#library;
    const { chunkTable, documents } = this.#app!.catalogue;
    const ids = documents.idsOfLibrary(Number(libraryId));
    return new Map(ids.map((id) => [documents.get(id)!.path, chunkTable.counts(chunkSetId, id).tokens]));
  }
}

describe.each(MODELS)('%s', (path) => {
  const library = new Library();
  beforeAll(() => library.open(path), READ_MS);
  afterAll(() => library.close());

  const read = (estimate: ContextEstimate | null) =>
    new Map(estimate?.documents.map(({ path: name, readTokens }) => [name, readTokens]));

  test.each(GENERAL)('“%s” reads all ten documents to the token', async (question) => {
    const estimate = await library.estimate(question);
    expect(estimate?.kind).toBe('everything');
    expect(read(estimate)).toEqual(library.tokens());
  });

  test.each(FOLLOW_UPS)('“%s” after a question reads at least what that question read', async (question) => {
    const { id } = await asked();
    const estimate = await library.estimate(question, id);
    expect(read(estimate).get('lease.txt')).toBe(library.tokens().get('lease.txt'));
    expect(estimate!.cachedTokens).toBeGreaterThan(library.tokens().get('lease.txt')!);
  });

  test.each([...FOLLOW_UPS.filter((each) => each !== NAMED), 'And in one sentence?'])(
    '“%s” after a summary reads everything',
    async (question) => {
      const { id } = await summarised();
      expect(read(await library.estimate(question, id))).toEqual(library.tokens());
    },
  );

  test('a question that a passage answers reads passages alone', async () => {
    const estimate = await library.estimate(SPECIFIC);
    expect(estimate?.kind).toBe('passages');
    expect(estimate!.documents.length).toBeLessThan(3);
  });

  test.each([SPECIFIC, 'Summarise these documents.', 'Worum geht es?'])(
    'the answer to “%s” reads what was said beforehand',
    async (question) => {
      const estimate = await library.estimate(question);
      const { answer } = await library.ask(question);
      expect(answer.stats?.documents).toEqual(estimate?.documents);
      expect(answer.stats?.promptTokens).toBe(estimate?.promptTokens);
      expect(answer.notices.filter(({ kind }) => kind === 'no-match' || kind === 'openings')).toEqual([]);
    },
  );

  const asked = once(() => library.ask(SPECIFIC));
  const summarised = once(() => library.ask('Summarise these documents.'));
});

describe('documents that do not fit the context', () => {
  const library = new Library();
  beforeAll(() => library.open(DEMO, { contextTokens: 256 }), READ_MS);
  afterAll(() => library.close());

  test.each(['What is this about?', 'Fasse zusammen.', '总结一下。'])(
    '“%s” reads openings, and the notice has the exact share and a price',
    async (question) => {
      const { answer } = await library.ask(question);
      expect(answer.failure).toBeNull();
      const documents = answer.stats!.documents!;
      const sum = documents.reduce((total, { readTokens }) => total + readTokens, 0);
      const all = [...library.tokens().values()].reduce((total, tokens) => total + tokens, 0);
      expect(sum).toBeGreaterThan(0);
      expect(answer.citations.reduce((total, { tokens }) => total + tokens, 0)).toBe(sum);
      const notice = answer.notices.find(({ kind }) => kind === 'openings');
      expect(notice?.message).toContain(`${documents.length} of 10 documents, ${sum} of ${all} tokens.`);
      expect(notice?.message).toMatch(/An analysis reads all of it: about \d+ steps?/);
    },
  );
});

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
