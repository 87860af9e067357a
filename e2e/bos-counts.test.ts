/** Prompts and chunks begin with exactly one BOS, or none, whatever header, template and vocabulary say. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tokenPrompt } from '../src-main/answering/backends/token-prompt.ts';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { CHAT_TEMPLATES } from '../src-main/testing/chat-templates.ts';
import { FAMILIES, vocabularyFile, type Family } from './support/vocabularies.ts';

const BODY = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}[assistant]";
const TEMPLATES = { 'writes it': `{{ bos_token }}${BODY}`, 'does not': BODY, 'is missing': undefined };
const HEADERS = { true: true, false: false, absent: undefined };
/** With what libllama adds where the header is silent. */
const VOCABULARIES = {
  'SentencePiece with a space before': { family: FAMILIES['llama 2'], space: true, adds: true },
  'SentencePiece without': { family: FAMILIES['llama 2'], space: false, adds: true },
  BPE: { family: FAMILIES['qwen 2'], space: false, adds: false },
};
const TEXT = 'one (two) three';

let engine: Engine;
let dir: string;

beforeAll(() => {
  engine = Engine.open();
  dir = mkdtempSync(join(tmpdir(), 'kvasir-bos-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const CASES = Object.entries(VOCABULARIES).flatMap(([vocabulary, { family, space, adds }]) =>
  Object.entries(HEADERS).flatMap(([header, addBos]) =>
    Object.entries(TEMPLATES).map(([writes, template]) => ({
      title: `${vocabulary}; add_bos_token ${header}; the template ${writes}`,
      family: family as Family,
      space,
      addBos,
      template,
      wanted: template?.startsWith('{{ bos_token') === true || (addBos ?? adds) ? 1 : 0,
    })),
  ),
);

async function load(family: Family, header: Parameters<typeof vocabularyFile>[2]): Promise<Model> {
  const model = await engine.loadModel(vocabularyFile(join(dir, 'a.gguf'), family, header), {
    device: 'cpu',
  });
  onTestFinished(() => model.dispose());
  return model;
}

function promptOf(model: Model, form: 'messages' | 'text', text: string): number[] {
  const messages = [{ role: 'user' as const, pieces: [text] }];
  const { parts } = tokenPrompt(model, { messages, form, think: false, contextTokens: 512, reserve: 0 });
  return parts.flatMap(({ tokens }) => [...tokens]);
}

describe.each(CASES)('$title', ({ family, space, addBos, template, wanted }) => {
  test('one BOS or none', async () => {
    const model = await load(family, {
      'tokenizer.chat_template': template ?? '',
      'tokenizer.ggml.add_space_prefix': space,
      ...(addBos !== undefined && { 'tokenizer.ggml.add_bos_token': addBos }),
    });
    const { bosToken } = model.info;
    const count = (tokens: readonly number[]): number => tokens.filter((id) => id === bosToken).length;
    const prompt = promptOf(model, 'messages', TEXT);
    expect(count(prompt)).toBe(wanted);
    expect(prompt.indexOf(bosToken)).toBe(wanted - 1);
    expect([...model.encodingPrefix]).toEqual(wanted === 1 ? [bosToken] : []);
    expect(count(promptOf(model, 'text', TEXT))).toBe(model.info.addBos ? 1 : 0);
    // The parts are tokenised separately; their text has no blank that the whole text does not have.
    const bare = prompt.filter((id) => id !== bosToken);
    const whole = model.tokenize(model.detokenize(bare).trimStart(), { special: true, begins: true });
    if (template !== undefined) expect(bare).toEqual([...whole]);
  });
});

test('Gemma 4 whose header says no BOS gets one all the same', async () => {
  const model = await load(FAMILIES['gemma 4'] as Family, {
    'tokenizer.chat_template': CHAT_TEMPLATES.gemma4Large,
    'tokenizer.ggml.add_bos_token': false,
  });
  const prompt = promptOf(model, 'messages', TEXT);
  expect(prompt.filter((id) => id === model.info.bosToken)).toHaveLength(1);
  expect([...model.encodingPrefix]).toEqual([model.info.bosToken]);
});
