/** The published models that `npm run models` downloads for tests and benches. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const MODELS = join(import.meta.dirname, '..', '..', '.setup', 'models');

export const SMOLLM2_FILE = 'smollm2-135m-instruct-q4_1.gguf';
export const GEMMA_FILE = 'gemma-3-270m-q4_k_m.gguf';
export const MINILM_FILE = 'all-minilm-l6-v2-f16.gguf';
/** A folder of ggml-vocab-*.gguf, with their .inp and .out files. */
export const VOCABULARIES = 'vocabularies';
/** A folder with JSON-Schema-Test-Suite's tests of the draft 2020-12. */
export const SCHEMA_SUITE = 'json-schema-test-suite';

/** The path of a published file; undefined if it has not been downloaded. */
export function published(file: string): string | undefined {
  const path = join(MODELS, file);
  return existsSync(path) ? path : undefined;
}
