/**
 * What published embedding models want, from their model cards. A name matches whole, without the repository's owner and
 * the quantisation ("Qwen3 Embedding 0.6B", "qwen3-embedding-0.6b-q8_0" → "qwen3-embedding-0-6b"), and only with the
 * architecture: a fine-tune's name is longer, and its rules may differ.
 */
import type { EmbedderOptions } from '../../engine/engine.ts';

/** `pooling`, `end` and `tokens`: see EmbedderOptions; `tokens` only where files name more than the card recommends. */
export interface EmbeddingRules extends Pick<EmbedderOptions, 'pooling' | 'end' | 'tokens'> {
  /** Before a question. */
  question: string;
  /** Before a passage; `{title}` stands for its title, or "none". */
  passage: string;
  /** Lengths to which vectors can be cut (Matryoshka): these, or any from one on. Absent: none. */
  sizes?: readonly number[] | { from: number };
  /** Vectors are normalised by layer before they are cut. */
  layerNorm?: true;
  /** Cosine below which texts are unrelated, where the card says so. Default: see vector-index.ts. */
  floor?: number;
}

export interface Family {
  name: RegExp;
  architectures: readonly string[];
  /** Address of the model card. */
  card: string;
  rules: EmbeddingRules;
}

const HUB = 'https://huggingface.co/';
const BERT = ['bert'];
const WEB_SEARCH =
  'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';
const SEARCHING = 'Represent this sentence for searching relevant passages: ';
const BARE = { question: '', passage: '' };

export const FAMILIES: readonly Family[] = [
  {
    // The card's code puts no space behind "Query:".
    name: /^qwen3-embedding(-0-6b|-4b|-8b)?$/,
    architectures: ['qwen3'],
    card: `${HUB}Qwen/Qwen3-Embedding-0.6B`,
    rules: {
      question: WEB_SEARCH,
      passage: '',
      pooling: 'last',
      end: '<|endoftext|>',
      tokens: 32_768,
      sizes: { from: 32 },
    },
  },
  {
    name: /^embedding-?gemma(-\d+m)?$/,
    architectures: ['gemma-embedding'],
    card: 'https://ai.google.dev/gemma/docs/embeddinggemma/model_card',
    rules: {
      question: 'task: search result | query: ',
      passage: 'title: {title} | text: ',
      pooling: 'mean',
      end: '<eos>',
      tokens: 2048,
      sizes: [512, 256, 128],
    },
  },
  {
    // GGUF files have 2,048 tokens; the 8,192 of the card need RoPE scaling.
    name: /^nomic-embed-text-v1$/,
    architectures: ['nomic-bert'],
    card: `${HUB}nomic-ai/nomic-embed-text-v1`,
    rules: { question: 'search_query: ', passage: 'search_document: ', pooling: 'mean' },
  },
  {
    name: /^nomic-embed-text-v1-5$/,
    architectures: ['nomic-bert'],
    card: `${HUB}nomic-ai/nomic-embed-text-v1.5`,
    rules: {
      question: 'search_query: ',
      passage: 'search_document: ',
      pooling: 'mean',
      sizes: [512, 256, 128, 64],
      layerNorm: true,
    },
  },
  {
    name: /^nomic-embed-text-v2-moe$/,
    architectures: ['nomic-bert-moe'],
    card: `${HUB}nomic-ai/nomic-embed-text-v2-moe`,
    rules: {
      question: 'search_query: ',
      passage: 'search_document: ',
      pooling: 'mean',
      tokens: 512,
      sizes: [256],
    },
  },
  {
    name: /^jina-embeddings-v5-text-(small|nano)-retrieval$/,
    architectures: ['qwen3', 'eurobert'],
    card: `${HUB}jinaai/jina-embeddings-v5-text-small-retrieval`,
    rules: {
      question: 'Query: ',
      passage: 'Document: ',
      pooling: 'last',
      tokens: 32_768,
      sizes: [768, 512, 256, 128, 64, 32],
    },
  },
  {
    name: /^jina-embeddings-v4-text-(retrieval|code)$/,
    architectures: ['qwen2vl'],
    card: `${HUB}jinaai/jina-embeddings-v4-text-retrieval-GGUF`,
    rules: {
      question: 'Query: ',
      passage: 'Passage: ',
      pooling: 'mean',
      tokens: 32_768,
      sizes: [1024, 512, 256, 128],
    },
  },
  {
    name: /^jina-embeddings-v2-(small|base)-(en|de|es|zh|code)$/,
    architectures: ['jina-bert-v2'],
    card: `${HUB}jinaai/jina-embeddings-v2-base-en`,
    rules: { ...BARE, pooling: 'mean', tokens: 8192 },
  },
  {
    // "cosine similarity scores distribute around 0.7 to 1.0"
    name: /^(multilingual-)?e5-(small|base|large)(-v2)?$/,
    architectures: BERT,
    card: `${HUB}intfloat/multilingual-e5-large`,
    rules: { question: 'query: ', passage: 'passage: ', pooling: 'mean', tokens: 512, floor: 0.7 },
  },
  {
    name: /^multilingual-e5-large-instruct$/,
    architectures: BERT,
    card: `${HUB}intfloat/multilingual-e5-large-instruct`,
    rules: { question: `${WEB_SEARCH} `, passage: '', pooling: 'mean', tokens: 512, floor: 0.7 },
  },
  {
    // "longer than 4096 tokens is not recommended"
    name: /^e5-mistral-7b-instruct$/,
    architectures: ['llama', 'mistral'],
    card: `${HUB}intfloat/e5-mistral-7b-instruct`,
    rules: { question: `${WEB_SEARCH} `, passage: '', pooling: 'last', end: '</s>', tokens: 4096 },
  },
  {
    name: /^bge-(small|base|large)-en-v1-5$/,
    architectures: BERT,
    card: `${HUB}BAAI/bge-base-en-v1.5`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 512 },
  },
  {
    // "the similarity distribution … is about in the interval [0.6, 1]"; v1.5 "alleviates" that.
    name: /^bge-(small|base|large)-en$/,
    architectures: BERT,
    card: `${HUB}BAAI/bge-base-en`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 512, floor: 0.6 },
  },
  {
    name: /^bge-(small|base|large)-zh-v1-5$/,
    architectures: BERT,
    card: `${HUB}BAAI/bge-base-zh-v1.5`,
    rules: { question: '为这个句子生成表示以用于检索相关文章：', passage: '', pooling: 'cls', tokens: 512 },
  },
  {
    name: /^bge-m3$/,
    architectures: BERT,
    card: `${HUB}BAAI/bge-m3`,
    rules: { ...BARE, pooling: 'cls', tokens: 8192 },
  },
  {
    name: /^gte-(small|base|large)$/,
    architectures: BERT,
    card: `${HUB}thenlper/gte-base`,
    rules: { ...BARE, pooling: 'mean', tokens: 512 },
  },
  {
    name: /^gte-(base|large)-en-v1-5$/,
    architectures: ['bert', 'nomic-bert', 'new'],
    card: `${HUB}Alibaba-NLP/gte-base-en-v1.5`,
    rules: { ...BARE, pooling: 'cls', tokens: 8192 },
  },
  {
    name: /^gte-multilingual-base$/,
    architectures: ['bert', 'nomic-bert', 'new'],
    card: `${HUB}Alibaba-NLP/gte-multilingual-base`,
    rules: { ...BARE, pooling: 'cls', tokens: 8192, sizes: { from: 128 } },
  },
  {
    name: /^gte-modernbert-base$/,
    architectures: ['modern-bert'],
    card: `${HUB}Alibaba-NLP/gte-modernbert-base`,
    rules: { ...BARE, pooling: 'cls', tokens: 8192 },
  },
  {
    name: /^gte-qwen2-(1-5b|7b)-instruct$/,
    architectures: ['qwen2'],
    card: `${HUB}Alibaba-NLP/gte-Qwen2-1.5B-instruct`,
    rules: { question: `${WEB_SEARCH} `, passage: '', pooling: 'last', end: '<|endoftext|>', tokens: 32_768 },
  },
  {
    name: /^granite-embedding-(30m-english|125m-english|107m-multilingual|278m-multilingual)$/,
    architectures: BERT,
    card: `${HUB}ibm-granite/granite-embedding-278m-multilingual`,
    rules: { ...BARE, pooling: 'cls', tokens: 512 },
  },
  {
    name: /^granite-embedding-(small-)?english-r2$/,
    architectures: ['modern-bert'],
    card: `${HUB}ibm-granite/granite-embedding-english-r2`,
    rules: { ...BARE, pooling: 'cls', tokens: 8192 },
  },
  {
    name: /^granite-embedding-97m-multilingual-r2$/,
    architectures: ['modern-bert'],
    card: `${HUB}ibm-granite/granite-embedding-97m-multilingual-r2`,
    rules: { ...BARE, pooling: 'cls', tokens: 32_768 },
  },
  {
    name: /^granite-embedding-311m-multilingual-r2$/,
    architectures: ['modern-bert'],
    card: `${HUB}ibm-granite/granite-embedding-311m-multilingual-r2`,
    rules: { ...BARE, pooling: 'cls', tokens: 32_768, sizes: [512, 384, 256, 128] },
  },
  {
    // "input text longer than 256 word pieces is truncated"; the file's 512 are the base model's.
    name: /^all-minilm-l6-v2$/,
    architectures: BERT,
    card: `${HUB}sentence-transformers/all-MiniLM-L6-v2`,
    rules: { ...BARE, pooling: 'mean', tokens: 256 },
  },
  {
    name: /^(all-minilm-l12-v2|paraphrase-multilingual-minilm-l12-v2)$/,
    architectures: BERT,
    card: `${HUB}sentence-transformers/all-MiniLM-L12-v2`,
    rules: { ...BARE, pooling: 'mean', tokens: 128 },
  },
  {
    name: /^multi-qa-minilm-l6-cos-v1$/,
    architectures: BERT,
    card: `${HUB}sentence-transformers/multi-qa-MiniLM-L6-cos-v1`,
    rules: { ...BARE, pooling: 'mean', tokens: 512 },
  },
  {
    name: /^mxbai-embed-(2d-)?large-v1$/,
    architectures: BERT,
    card: `${HUB}mixedbread-ai/mxbai-embed-large-v1`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 512 },
  },
  {
    name: /^(snowflake-)?arctic-embed-(xs|s|m|l)$/,
    architectures: BERT,
    card: `${HUB}Snowflake/snowflake-arctic-embed-m`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 512 },
  },
  {
    name: /^(snowflake-)?arctic-embed-m-v1-5$/,
    architectures: BERT,
    card: `${HUB}Snowflake/snowflake-arctic-embed-m-v1.5`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 512, sizes: [256] },
  },
  {
    name: /^(snowflake-)?arctic-embed-m-long$/,
    architectures: ['nomic-bert'],
    card: `${HUB}Snowflake/snowflake-arctic-embed-m-long`,
    rules: { question: SEARCHING, passage: '', pooling: 'cls', tokens: 2048 },
  },
  {
    name: /^(snowflake-)?arctic-embed-[ml]-v2-0$/,
    architectures: ['bert', 'nomic-bert', 'new'],
    card: `${HUB}Snowflake/snowflake-arctic-embed-l-v2.0`,
    rules: { question: 'query: ', passage: '', pooling: 'cls', tokens: 8192, sizes: [256] },
  },
];
