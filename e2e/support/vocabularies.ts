/** The vocabularies of model families: their kinds, marks and templates, over letters or bytes. */
import { CHAT_TEMPLATES } from '../../src-main/testing/chat-templates.ts';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { withMetadata, type MetadataValue } from './gguf-metadata.ts';

const TOKENS = 512;
const [NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6];

export interface Family {
  template: keyof typeof CHAT_TEMPLATES;
  /** Gemma 4's: SentencePiece's alphabet, merged as in BPE. */
  kind: 'bpe' | 'spm' | 'ugm' | 'wpm' | 'gemma4';
  pre?: string;
  /** Spelled as in its files. */
  control: string[];
  userDefined?: string[];
  /** Marks that the file lists as a plain word (the first one), or as unused. */
  plain?: string[];
}

const CHATML = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const THINK = ['<think>', '</think>'];
const TOOLS = ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'];

export const FAMILIES: Record<string, Family> = {
  'llama 3': {
    template: 'llama',
    kind: 'bpe',
    pre: 'llama-bpe',
    control: ['<|begin_of_text|>', '<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>'],
  },
  'llama 2': {
    template: 'mistralBefore',
    kind: 'spm',
    control: ['<s>', '</s>'],
    userDefined: ['[INST]', '[/INST]'],
  },
  'qwen 2': { template: 'qwen2', kind: 'bpe', pre: 'qwen2', control: CHATML, userDefined: TOOLS },
  'qwen 2, its marks typed as words': {
    template: 'qwen2',
    kind: 'bpe',
    pre: 'qwen2',
    control: CHATML,
    plain: TOOLS,
  },
  'qwen 3': {
    template: 'qwen3',
    kind: 'bpe',
    pre: 'qwen2',
    control: CHATML,
    userDefined: [...TOOLS, ...THINK],
  },
  'mistral 3': {
    template: 'mistral3',
    kind: 'bpe',
    pre: 'tekken',
    control: [
      '<s>',
      '</s>',
      '[INST]',
      '[/INST]',
      '[SYSTEM_PROMPT]',
      '[/SYSTEM_PROMPT]',
      '[THINK]',
      '[/THINK]',
    ],
  },
  'phi 3': {
    template: 'phi3',
    kind: 'spm',
    control: ['<s>', '<|endoftext|>', '<|user|>', '<|end|>'],
    userDefined: ['</s>', '<|assistant|>', '<|system|>'],
  },
  'phi 4': { template: 'phi4', kind: 'bpe', pre: 'gpt-4o', control: [...CHATML, '<|im_sep|>'] },
  granite: {
    template: 'granite',
    kind: 'bpe',
    pre: 'refact',
    control: ['<|end_of_text|>', '<|start_of_role|>', '<|end_of_role|>'],
  },
  'smollm 3': { template: 'smollm3', kind: 'bpe', pre: 'smaug-bpe', control: CHATML, userDefined: THINK },
  'glm 4': {
    template: 'glm4',
    kind: 'bpe',
    pre: 'glm4',
    control: [
      '<|endoftext|>',
      '[gMASK]',
      '<sop>',
      '<|system|>',
      '<|user|>',
      '<|assistant|>',
      '<|observation|>',
    ],
    userDefined: THINK,
  },
  'olmo 2': {
    template: 'olmo2',
    kind: 'bpe',
    pre: 'dbrx',
    control: ['<|endoftext|>'],
    userDefined: ['<|user|>', '<|assistant|>', '<|system|>'],
  },
  'gemma 3': {
    template: 'gemma3',
    kind: 'spm',
    control: ['<bos>', '<eos>'],
    userDefined: ['<start_of_turn>', '<end_of_turn>', '<start_of_image>'],
  },
  'gemma 3, its marks typed as words': {
    template: 'gemma3',
    kind: 'spm',
    control: ['<bos>', '<eos>'],
    plain: ['<start_of_turn>', '<start_of_image>', '<end_of_turn>'],
  },
  'gemma 4': {
    template: 'gemma4Large',
    kind: 'gemma4',
    control: ['<bos>', '<eos>', '<|turn>', '<turn|>', '<|think|>', '<|image>'],
    userDefined: ['<|channel>', '<channel|>', '<|tool_call>', '<tool_call|>'],
  },
  'gpt-oss': {
    template: 'gptOss',
    kind: 'bpe',
    pre: 'gpt-4o',
    control: [
      '<|startoftext|>',
      '<|endoftext|>',
      '<|return|>',
      '<|constrain|>',
      '<|channel|>',
      '<|start|>',
      '<|end|>',
      '<|message|>',
      '<|call|>',
    ],
  },
  'a WordPiece vocabulary': {
    template: 'phi4',
    kind: 'wpm',
    control: ['[CLS]', '[SEP]', '<|im_end|>'],
    userDefined: ['<|im_sep|>', ...THINK],
  },
  'a Unigram vocabulary': {
    template: 'phi4',
    kind: 'ugm',
    control: ['</s>', '<|im_start|>', '<|im_end|>'],
    userDefined: ['<|im_sep|>', ...THINK],
  },
};

/** A model with random weights and the family's vocabulary; `header` has further keys. */
export function vocabularyFile(
  path: string,
  family: Family,
  header: Readonly<Record<string, MetadataValue>> = {},
): string {
  const random = randomModel({
    arch: 'llama',
    layers: 1,
    embd: 64,
    heads: 1,
    'kv-heads': 1,
    'head-dim': 64,
    ff: 64,
  });
  withMetadata(random, path, { without: 'tokenizer.', values: { ...vocabularyOf(family), ...header } });
  return path;
}

function vocabularyOf({
  template,
  kind,
  pre,
  control,
  userDefined = [],
  plain = [],
}: Family): Record<string, MetadataValue> {
  const own = [
    ...control.map((text) => ({ text, type: CONTROL })),
    ...userDefined.map((text) => ({ text, type: USER_DEFINED })),
    ...plain.map((text, i) => ({ text, type: i === 0 ? NORMAL : UNUSED })),
  ];
  const begun = kind === 'wpm' ? printable().map((letter) => `\u2581${letter}`) : ['\u2581'];
  const alphabet = kind === 'bpe' ? byteAlphabet() : [...begun, ...printable()];
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const tokens = [
    { text: '<unk>', type: kind === 'bpe' ? NORMAL : UNKNOWN },
    ...own,
    ...(kind === 'spm' || kind === 'gemma4' ? bytes.map((text) => ({ text, type: BYTE })) : []),
    ...alphabet.map((text) => ({ text, type: NORMAL })),
  ];
  while (tokens.length < TOKENS) tokens.push({ text: `<filler${tokens.length}>`, type: NORMAL });
  const key = (name: string): string => `tokenizer.ggml.${name}`;
  return {
    'tokenizer.chat_template': CHAT_TEMPLATES[template],
    [key('model')]: { bpe: 'gpt2', spm: 'llama', ugm: 't5', wpm: 'bert', gemma4: 'gemma4' }[kind],
    ...(pre !== undefined && { [key('pre')]: pre }),
    [key('tokens')]: tokens.map(({ text }) => text),
    [key('token_type')]: Int32Array.from(tokens, ({ type }) => type),
    [key('scores')]: Float32Array.from(tokens, (_, i) => -i),
    ...((kind === 'bpe' || kind === 'gemma4') && { [key('merges')]: ['a b'] }),
    [key('bos_token_id')]: 1,
    [key('eos_token_id')]: control.length > 1 ? 2 : 1,
    [key('unknown_token_id')]: 0,
  };
}

function printable(): string[] {
  return Array.from({ length: 0x7f - 0x21 }, (_, i) => String.fromCharCode(0x21 + i));
}

/** GPT-2's byte alphabet: printable bytes map to themselves, the others to code points from 256 on. */
function byteAlphabet(): string[] {
  let others = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const shown = (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
    return String.fromCodePoint(shown ? byte : others++);
  });
}
