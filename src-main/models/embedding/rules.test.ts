import { expect, test } from 'vitest';
import { asPassage, asQuestion, allowsSize, cutVector, familyOf, rulesOf, vectorVariant } from './rules.ts';

const SEARCHING = 'Represent this sentence for searching relevant passages: ';
const WEB = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';

function rules(architecture: string, name: string, path = '/m/model.gguf') {
  return rulesOf(model(architecture, name, path));
}

function model(architecture: string, name: string, path = '/m/model.gguf') {
  return {
    header: { architecture, names: [name], contextTrain: 8192, pooling: '' as const },
    path,
    prefixes: null,
  };
}

test.each([
  ['qwen3', 'Qwen3 Embedding 0.6b', `${WEB}text`, 'Title\ntext', 'last'],
  [
    'gemma-embedding',
    'Embeddinggemma 300M',
    'task: search result | query: text',
    'title: Title | text: text',
    'mean',
  ],
  ['nomic-bert', 'nomic-embed-text-v1.5', 'search_query: text', 'search_document: Title\ntext', 'mean'],
  ['nomic-bert-moe', 'Nomic Embed Text v2 Moe', 'search_query: text', 'search_document: Title\ntext', 'mean'],
  ['qwen3', 'Jina Embeddings v5 Text Small Retrieval', 'Query: text', 'Document: Title\ntext', 'last'],
  ['qwen2vl', 'jina-embeddings-v4-text-retrieval', 'Query: text', 'Passage: Title\ntext', 'mean'],
  ['bert', 'multilingual-e5-base', 'query: text', 'passage: Title\ntext', 'mean'],
  ['bert', 'E5 Small v2', 'query: text', 'passage: Title\ntext', 'mean'],
  ['bert', 'Multilingual E5 Large Instruct', `${WEB} text`, 'Title\ntext', 'mean'],
  ['llama', 'e5-mistral-7b-instruct', `${WEB} text`, 'Title\ntext', 'last'],
  ['bert', 'bge-large-en-v1.5', `${SEARCHING}text`, 'Title\ntext', 'cls'],
  ['bert', 'Mxbai Embed Large v1', `${SEARCHING}text`, 'Title\ntext', 'cls'],
  ['bert', 'snowflake-arctic-embed-m', `${SEARCHING}text`, 'Title\ntext', 'cls'],
  ['bert', 'Snowflake Arctic Embed L v2.0', 'query: text', 'Title\ntext', 'cls'],
  ['bert', 'bge-m3', 'text', 'Title\ntext', 'cls'],
  ['bert', 'Gte Base', 'text', 'Title\ntext', 'mean'],
  ['modern-bert', 'gte-modernbert-base', 'text', 'Title\ntext', 'cls'],
  ['bert', 'Granite Embedding 278M Multilingual', 'text', 'Title\ntext', 'cls'],
  ['bert', 'all-MiniLM-L6-v2', 'text', 'Title\ntext', 'mean'],
])(
  '%s "%s" wants %j before a question and %j as a passage',
  (architecture, name, question, passage, pooling) => {
    const of = rules(architecture, name);
    expect(asQuestion(of, 'text')).toBe(question);
    expect(asPassage(of, { title: 'Title', text: 'text' })).toBe(passage);
    expect(of.pooling).toBe(pooling);
  },
);

test.each([
  ['bert', 'bge-m3-unsupervised'],
  ['bert', 'bge-reranker-v2-m3'],
  ['bert', 'my-bge-base-en-v1.5-legal'],
  ['bert', 'multilingual-e5-large-ft'],
  ['qwen3', 'Qwen3 Embedding 0.6B Medical'],
  ['qwen3', 'Qwen3 0.6B'],
  ['qwen3', 'bge-m3'],
  ['qwen3', 'jina-embeddings-v5-text-small-text-matching'],
  ['llama', 'e5'],
  ['bert', ''],
])('%s "%s" is similar to a family at most, and gets no rules', (architecture, name) => {
  expect(rules(architecture, name)).toEqual({ question: '', passage: '' });
});

test('any of a file’s names is enough, without publisher and quantisation, unless they contradict', () => {
  const hash = '5617a9f61b028005a4858fdac845db406aefb181';
  expect(familyOf(model('bert', hash, '/models/bge-m3-Q8_0.gguf'))?.card).toMatch(/bge-m3$/);
  expect(familyOf(model('bert', hash, '/models/BAAI_bge-m3.i1-Q4_K_M.gguf'))?.card).toMatch(/bge-m3$/);
  expect(familyOf(model('gemma-embedding', '', '/m/embeddinggemma-300M-qat-Q4_0.gguf'))).toBeDefined();
  expect(familyOf(model('bert', 'bge-m3', '/models/multilingual-e5-base.gguf'))).toBeUndefined();
});

test('a passage without a title, and the user’s prefixes in place of the family’s', () => {
  const gemma = model('gemma-embedding', 'embeddinggemma-300m');
  const untitled = { title: '', text: '$& text' };
  expect(asPassage(rulesOf(gemma), untitled)).toBe('title: none | text: $& text');
  const own = rulesOf({ ...gemma, prefixes: { question: 'q: ', passage: 'p: ' } });
  expect([asQuestion(own, 'x'), asPassage(own, untitled)]).toEqual(['q: x', 'p: $& text']);
  expect(own.end).toBe('<eos>');
});

test('only what changes stored vectors distinguishes them', () => {
  const variant = (architecture: string, name: string, header = {}) => {
    const { header: plain } = model(architecture, name);
    return vectorVariant(rules(architecture, name), { ...plain, ...header });
  };
  expect(variant('bert', 'unknown')).toBe('');
  expect(variant('bert', 'bge-base-en-v1.5', { pooling: 'cls', contextTrain: 512 })).toBe('');
  expect(variant('bert', 'bge-base-en-v1.5', { contextTrain: 512 })).toContain('cls');
  expect(variant('bert', 'e5-base', { pooling: 'mean', contextTrain: 512 })).toContain('passage: ');
  expect(variant('bert', 'all-MiniLM-L6-v2', { pooling: 'mean', contextTrain: 512 })).toContain('256');
});

test('vectors are cut to the lengths of the card, and have length 1 again', () => {
  const nomic = rules('nomic-bert', 'nomic-embed-text-v1.5');
  expect([64, 512, 768, 100, 1024].map((size) => allowsSize(nomic, size, 768))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  const qwen = rules('qwen3', 'Qwen3-Embedding-0.6B');
  expect([31, 32, 100, 1024, 1025].map((size) => allowsSize(qwen, size, 1024))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(allowsSize(rules('bert', 'unknown'), 64, 128)).toBe(false);
  const vector = Float32Array.of(0.1, 0.7, 0.1, 0.7);
  expect(cutVector(vector, 4, nomic)).toBe(vector);
  const close = (value: number): unknown => expect.closeTo(value, 5);
  expect([...cutVector(vector, 2, qwen)]).toEqual([close(Math.SQRT2 / 10), close((7 * Math.SQRT2) / 10)]);
  // Layer norm takes the mean of all four first.
  expect([...cutVector(vector, 2, nomic)]).toEqual([close(-Math.SQRT1_2), close(Math.SQRT1_2)]);
});
