import { expect, test } from 'vitest';
import { namedRole } from './named-role.ts';

test.each([
  ['Qwen/Qwen3-Embedding-0.6B-GGUF', 'embedding'],
  ['text-embedding-3-small', 'embedding'],
  ['nomic-embed-text:latest', 'embedding'],
  ['snowflake-arctic-embed', 'embedding'],
  ['all-minilm:22m', 'embedding'],
  ['intfloat/e5-mistral-7b-instruct', 'embedding'],
  ['bge-m3:latest', 'embedding'],
  ['BAAI/bge-reranker-v2-m3', 'reranker'],
  ['gpustack/Qwen3-Reranker-0.6B', 'reranker'],
  ['Embedded-C-Helper-7B', undefined],
  ['Qwen3-0.6B', undefined],
  ['phi-3.5-mini', undefined],
])('%s is for: %s', (name, role) => {
  expect(namedRole(name)).toBe(role);
});
