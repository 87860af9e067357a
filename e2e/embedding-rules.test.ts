/** The tokens that embedding models get for questions and passages, by the rules of their cards. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Engine, type Embedder } from '../src-main/engine/engine.ts';
import { FAMILIES } from '../src-main/models/embedding/families.ts';
import { asPassage, asQuestion, familyOf, rulesOf } from '../src-main/models/embedding/rules.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { MINILM_FILE, published, VOCABULARIES } from '../tools/models/files.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { FULL } from './support/full.ts';
import { BERT } from './support/small-bert.ts';

const DECODER = {
  layers: 2,
  embd: 64,
  heads: 4,
  'kv-heads': 4,
  'head-dim': 16,
  ff: 128,
  vocab: 300,
  context: 64,
};
const WEB = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';
const SEARCHING = 'Represent this sentence for searching relevant passages: ';

let dir: string;
beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

/** Loads a random model by the rules of its header; `as`: an architecture that random models cannot have. */
async function load(options: Record<string, string | number>, as?: string) {
  const path = randomModel(options, dir);
  const engine = Engine.open();
  const header = engine.inspect(path);
  const model = { header: { ...header, architecture: as ?? header.architecture }, path, prefixes: null };
  const rules = rulesOf(model);
  const { pooling, end, tokens } = rules;
  const embedder = await engine.loadEmbedder(path, { threads: 1, device: 'cpu', pooling, end, tokens });
  onTestFinished(() => embedder.dispose());
  return { embedder, rules };
}

/** Tokens of a random decoder: a byte's is its value and 2. */
function bytes(text: string): number[] {
  return [1, ...[...Buffer.from(text)].map((byte) => byte + 2)];
}

/** Tokens of a random BERT: each printable ASCII character but capitals, at a word's beginning and within. */
function wordPieces(text: string): number[] {
  const alphabet = [...Array(94).keys()]
    .map((i) => String.fromCharCode(33 + i))
    .filter((c) => !/[A-Z]/.test(c));
  const words = text.toLowerCase().match(/[a-z0-9]+|[^a-z0-9\s]/g) ?? [];
  const pieces = words.flatMap((word) =>
    Array.from(word, (c, i) => 5 + 2 * alphabet.indexOf(c) + Math.min(i, 1)),
  );
  return [2, ...pieces, 3];
}

const PASSAGE = { title: 'Sea', text: 'Ships sail.' };
const BARE = 'Sea\nShips sail.';

/** Name, architecture of the published files, question, passage, pooling. */
const EXAMPLES = [
  ['Qwen3 Embedding 0.6B', 'qwen3', `${WEB}who?`, BARE, 'last'],
  [
    'Embeddinggemma 300M',
    'gemma-embedding',
    'task: search result | query: who?',
    'title: Sea | text: Ships sail.',
    'mean',
  ],
  ['nomic-embed-text-v1', 'nomic-bert', 'search_query: who?', `search_document: ${BARE}`, 'mean'],
  ['nomic-embed-text-v1.5', 'nomic-bert', 'search_query: who?', `search_document: ${BARE}`, 'mean'],
  ['nomic-embed-text-v2-moe', 'nomic-bert-moe', 'search_query: who?', `search_document: ${BARE}`, 'mean'],
  ['jina-embeddings-v5-text-small-retrieval', 'qwen3', 'Query: who?', `Document: ${BARE}`, 'last'],
  ['jina-embeddings-v4-text-retrieval', 'qwen2vl', 'Query: who?', `Passage: ${BARE}`, 'mean'],
  ['jina-embeddings-v2-base-en', 'jina-bert-v2', 'who?', BARE, 'mean'],
  ['multilingual-e5-base', 'bert', 'query: who?', `passage: ${BARE}`, 'mean'],
  ['multilingual-e5-large-instruct', 'bert', `${WEB} who?`, BARE, 'mean'],
  ['e5-mistral-7b-instruct', 'llama', `${WEB} who?`, BARE, 'last'],
  ['bge-base-en-v1.5', 'bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['bge-base-en', 'bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['bge-m3', 'bert', 'who?', BARE, 'cls'],
  ['gte-base', 'bert', 'who?', BARE, 'mean'],
  ['gte-base-en-v1.5', 'nomic-bert', 'who?', BARE, 'cls'],
  ['gte-multilingual-base', 'bert', 'who?', BARE, 'cls'],
  ['gte-modernbert-base', 'modern-bert', 'who?', BARE, 'cls'],
  ['gte-Qwen2-1.5B-instruct', 'qwen2', `${WEB} who?`, BARE, 'last'],
  ['granite-embedding-278m-multilingual', 'bert', 'who?', BARE, 'cls'],
  ['granite-embedding-english-r2', 'modern-bert', 'who?', BARE, 'cls'],
  ['granite-embedding-97m-multilingual-r2', 'modern-bert', 'who?', BARE, 'cls'],
  ['granite-embedding-311m-multilingual-r2', 'modern-bert', 'who?', BARE, 'cls'],
  ['all-MiniLM-L6-v2', 'bert', 'who?', BARE, 'mean'],
  ['all-MiniLM-L12-v2', 'bert', 'who?', BARE, 'mean'],
  ['multi-qa-MiniLM-L6-cos-v1', 'bert', 'who?', BARE, 'mean'],
  ['mxbai-embed-large-v1', 'bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['snowflake-arctic-embed-m', 'bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['snowflake-arctic-embed-m-v1.5', 'bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['snowflake-arctic-embed-m-long', 'nomic-bert', `${SEARCHING}who?`, BARE, 'cls'],
  ['snowflake-arctic-embed-l-v2.0', 'bert', 'query: who?', BARE, 'cls'],
] as const;

describe.each(EXAMPLES)('%s (%s)', (name, architecture, question, passage, pooling) => {
  const decoders = ['qwen3', 'qwen2', 'llama', 'gemma-embedding', 'qwen2vl'];
  const isDecoder = decoders.includes(architecture);

  test('its files are tokenised as its card says, even if they name no pooling', async () => {
    const arch = ['qwen3', 'qwen2'].includes(architecture) ? architecture : 'llama';
    const shape = isDecoder ? { ...DECODER, arch } : { ...BERT, context: 64 };
    const { embedder, rules } = await load({ ...shape, name }, architecture);
    const expected = (text: string): number[] => {
      if (!isDecoder) return wordPieces(text);
      return pooling === 'last' ? [...bytes(text), 0] : bytes(text);
    };
    expect([...embedder.tokenize(asQuestion(rules, 'who?'))]).toEqual(expected(question));
    expect([...embedder.tokenize(asPassage(rules, PASSAGE))]).toEqual(expected(passage));
    expect(embedder.info.pooling).toBe(pooling);
  });
});

test('each family in the table has an example above', () => {
  const families = EXAMPLES.map(([name, architecture]) => {
    return familyOf({ header: { architecture, names: [name], contextTrain: 512, pooling: '' }, path: '/m' });
  });
  const others = FAMILIES.filter((family) => !families.includes(family));
  // Random models lack Chinese characters.
  expect(others.map(({ card }) => card)).toEqual(['https://huggingface.co/BAAI/bge-base-zh-v1.5']);
});

describe('with a published vocabulary', () => {
  const withVocabulary = (vocabulary: string, options: Record<string, string | number>, as?: string) =>
    load(
      {
        ...options,
        layers: 1,
        embd: 32,
        heads: 2,
        'kv-heads': 2,
        tokenizer: join(published(VOCABULARIES) ?? '', vocabulary),
      },
      as,
    );
  const tokens = (embedder: Embedder, text: string): number[] => [...embedder.tokenize(text)];

  test.skipIf(published(VOCABULARIES) === undefined)('e5: [CLS] query : hello world [SEP]', async () => {
    const { embedder, rules } = await withVocabulary('ggml-vocab-bert-bge.gguf', {
      ...BERT,
      name: 'e5-base-v2',
    });
    expect(tokens(embedder, asQuestion(rules, 'Hello world'))).toEqual([101, 23032, 1024, 7592, 2088, 102]);
    expect(tokens(embedder, asPassage(rules, { title: '', text: 'Hello world' }))).toEqual([
      101, 6019, 1024, 7592, 2088, 102,
    ]);
  });

  test.skipIf(published(VOCABULARIES) === undefined)(
    'Qwen3-Embedding: a text ends with <|endoftext|>',
    async () => {
      const shape = { ...DECODER, arch: 'qwen3', name: 'Qwen3 Embedding 4B' };
      const { embedder, rules } = await withVocabulary('ggml-vocab-qwen2.gguf', shape);
      const question = tokens(embedder, asQuestion(rules, '月'));
      expect(question.at(-1)).toBe(151_643);
      expect(question.filter((token) => token >= 151_643)).toHaveLength(1);
      // No space is between "Query:" and the text.
      expect(question.at(-3)).toBe(tokens(embedder, 'Query:').at(-2));
    },
  );

  // Each has a quarter of a million tokens, which take seconds to load.
  test.skipIf(published(VOCABULARIES) === undefined || !FULL)(
    'XLM-R: <s> and </s> around a text',
    async () => {
      const shape = { ...BERT, name: 'multilingual-e5-small' };
      const { embedder, rules } = await withVocabulary('ggml-vocab-nomic-bert-moe.gguf', shape);
      const question = tokens(embedder, asQuestion(rules, 'Hello'));
      expect([question[0], question.at(-1)]).toEqual([0, 2]);
      expect(question.slice(1, -1).some((token) => token < 3)).toBe(false);
    },
  );

  test.skipIf(published(VOCABULARIES) === undefined || !FULL)(
    'Gemma: <bos> and <eos> around a text',
    async () => {
      const shape = { ...DECODER, arch: 'llama', pooling: 1, name: 'embeddinggemma-300m' };
      const { embedder, rules } = await withVocabulary('ggml-vocab-gemma-4.gguf', shape, 'gemma-embedding');
      const passage = tokens(embedder, asPassage(rules, { title: '', text: 'Hello' }));
      expect([passage[0], passage.at(-1)]).toEqual([2, 1]);
    },
  );
});

const minilm = published(MINILM_FILE);

test.skipIf(minilm === undefined)(
  'all-MiniLM-L6-v2 gets texts as they are, and 256 tokens of them',
  async () => {
    const engine = Engine.open();
    const path = minilm ?? '';
    const rules = rulesOf({ header: engine.inspect(path), path, prefixes: null });
    const { pooling, end, tokens } = rules;
    const embedder = await engine.loadEmbedder(path, { threads: 1, device: 'cpu', pooling, end, tokens });
    onTestFinished(() => embedder.dispose());
    expect([...embedder.tokenize(asQuestion(rules, 'Hello world'))]).toEqual([101, 7592, 2088, 102]);
    const words = (count: number): string => Array<string>(count).fill('hello').join(' ');
    const dimension = embedder.info.dimension;
    const all = await embedder.embed([words(254), words(400), words(100)]);
    const [fits, cut, shorter] = [0, 1, 2].map((i) => all.subarray(i * dimension, (i + 1) * dimension));
    expect(embedder.info).toMatchObject({ contextTokens: 256, pooling: 'mean' });
    expect(cut).toEqual(fits);
    expect(shorter).not.toEqual(fits);
  },
);
