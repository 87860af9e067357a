import { expect, test } from 'vitest';
import { Model } from './model.ts';
import type { NativeModel } from './native.ts';

const WRITES_IT = "{{ bos_token }}{{ messages[0]['content'] }}";
const SPELLS_IT = "<s>[INST]{{ messages[0]['content'] }}[/INST]";
const LEAVES_IT = "{{ messages[0]['content'] }}";

test.each([
  ['the header asks for it', true, '', true],
  ['the template writes it', false, WRITES_IT, true],
  ['the template spells it out', false, SPELLS_IT, true],
  ['both', true, WRITES_IT, true],
  ['neither', false, LEAVES_IT, false],
])('a chunk is encoded after BOS as prompts are: %s', (_, addBos, chatTemplate, isBehindBos) => {
  const info = { bosToken: 1, bosText: '<s>', addBos, chatTemplate };
  const native = { info, tokenize: () => new Int32Array(0) } as unknown as NativeModel;
  const model = new Model({ createAbort: () => expect.unreachable() }, native, 'a.gguf');
  expect([...model.encodingPrefix]).toEqual(isBehindBos ? [1] : []);
});

test('a model without BOS has none', () => {
  const info = { bosToken: -1, bosText: '', addBos: true, chatTemplate: WRITES_IT };
  const native = { info, tokenize: () => new Int32Array(0) } as unknown as NativeModel;
  const model = new Model({ createAbort: () => expect.unreachable() }, native, 'a.gguf');
  expect(model.encodingPrefix).toHaveLength(0);
});
