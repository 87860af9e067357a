import type { FormatRow, ToolFormat } from './format.ts';
import { gemmaCalls } from './gemma-calls.ts';
import { jsonCalls, namedCalls } from './json-calls.ts';
import { LIST_FORMATS } from './list-formats.ts';
import { parameterCalls } from './parameter-calls.ts';
import { TAG_FORMATS } from './tag-formats.ts';

const HARMONY_CALL = 'to=functions.';

/** Formats by a text in the chat templates that have them; the first that matches is a template's. */
const FORMATS: readonly FormatRow[] = [
  ...LIST_FORMATS,
  ...TAG_FORMATS,
  [
    'gpt-oss (harmony)',
    /<\|channel\|>/,
    namedCalls({
      marks: ['commentary', 'analysis']
        .map((channel) => `<|channel|>${channel} ${HARMONY_CALL}`)
        .concat(` ${HARMONY_CALL}`),
      head: /to=functions\.([^\s<]+)[^{]*?<\|message\|>\s*(?=\{)/,
      headRule: [
        '"<|channel|>commentary"? " to=functions."',
        '"<|channel|>commentary"? " "? "<|constrain|>"? "json"? "<|message|>"',
      ],
    }),
  ],
  [
    'DeepSeek R1 and V3',
    /<｜tool▁call▁begin｜>[^]*```json/,
    namedCalls({
      marks: ['<｜tool▁calls▁begin｜>'],
      before: '<｜tool▁calls▁begin｜>',
      after: '<｜tool▁calls▁end｜>',
      separator: '\n',
      head: /<｜tool▁sep｜>([^\s<]+)\s*```json\s*(?=\{)/,
      headRule: [
        '"<｜tool▁call▁begin｜>function<｜tool▁sep｜>"',
        String.raw`"\n` + '```json' + String.raw`\n"`,
      ],
      close: '\n```<｜tool▁call▁end｜>',
    }),
  ],
  [
    'DeepSeek V3.1',
    /<｜tool▁call▁begin｜>/,
    namedCalls({
      marks: ['<｜tool▁calls▁begin｜>'],
      before: '<｜tool▁calls▁begin｜>',
      after: '<｜tool▁calls▁end｜>',
      separator: '',
      head: /<｜tool▁call▁begin｜>([^\s<]+)<｜tool▁sep｜>\s*(?=\{)/,
      headRule: ['"<｜tool▁call▁begin｜>"', '"<｜tool▁sep｜>"'],
      close: '<｜tool▁call▁end｜>',
    }),
  ],
  [
    'Kimi K2',
    /<\|tool_call_argument_begin\|>/,
    namedCalls({
      marks: ['<|tool_calls_section_begin|>'],
      before: '<|tool_calls_section_begin|>',
      after: '<|tool_calls_section_end|>',
      separator: '',
      head: /<\|tool_call_begin\|>\s*functions\.([^\s:]+):\d+\s*<\|tool_call_argument_begin\|>\s*(?=\{)/,
      headRule: ['"<|tool_call_begin|>functions."', '":" [0-9]{1,3} "<|tool_call_argument_begin|>"'],
      close: '<|tool_call_end|>',
    }),
  ],
  ['Gemma 4', /<\|tool_call>/, gemmaCalls({ open: '<|tool_call>', close: '<tool_call|>', quote: '<|"|>' })],
  [
    'FunctionGemma',
    /<start_function_call>/,
    gemmaCalls({ open: '<start_function_call>', close: '<end_function_call>', quote: '<escape>' }),
  ],
  [
    'GLM',
    /<arg_key>/,
    parameterCalls({
      marks: ['<tool_call>'],
      separator: '\n',
      head: /<tool_call>\s*([^\s<]+)(?=\s*<)/,
      parameter: /<arg_key>(?<key>[^]*?)<\/arg_key>\s*<arg_value>(?<value>[^]*?)<\/arg_value>/g,
      end: '</tool_call>',
      nameRule: ['"<tool_call>"', String.raw`"\n"?`],
      parameterRule: [
        '"<arg_key>"',
        String.raw`"</arg_key>" "\n"? "<arg_value>"`,
        String.raw`"</arg_value>" "\n"?`,
      ],
      valueEnd: '</arg_value>',
      endRule: '"</tool_call>"',
    }),
  ],
  [
    'Qwen3-Coder',
    /<function=[^]*<parameter=/,
    parameterCalls({
      marks: ['<tool_call>', '<function='],
      separator: '\n',
      head: /<function=([^>\s]+)>/,
      parameter: /<parameter=(?<key>[^>\s]+)>\n?(?<value>[^]*?)\n?<\/parameter>/g,
      end: '</function>',
      nameRule: [String.raw`"<tool_call>\n<function="`, String.raw`">\n"`],
      parameterRule: ['"<parameter="', String.raw`">\n"`, String.raw`"\n</parameter>\n"`],
      valueEnd: '\n</parameter>',
      endRule: String.raw`"</function>\n</tool_call>"`,
    }),
  ],
  [
    'Functionary',
    /<function=/,
    namedCalls({
      marks: ['<function='],
      separator: '',
      head: /<function=([^>\s]+)>\s*(?=\{)/,
      headRule: ['"<function="', '">"'],
      close: '</function>',
    }),
  ],
  [
    'Mistral with arguments after names',
    /\[ARGS\]/,
    namedCalls({
      marks: ['[TOOL_CALLS]'],
      separator: '',
      head: /\[TOOL_CALLS\]\s*([^[{\s]+)(?:\[CALL_ID\][^[]*)?(?:\[ARGS\])?\s*(?=\{)/,
      headRule: ['"[TOOL_CALLS]"', '("[CALL_ID]" [a-zA-Z0-9]{9})? "[ARGS]"'],
    }),
  ],
  [
    'Mistral with a list',
    /\[TOOL_CALLS\]/,
    jsonCalls({ marks: ['[TOOL_CALLS]'], before: '[TOOL_CALLS][', after: ']', separator: ', ' }),
  ],
  [
    'Hermes and Qwen',
    /<tool_call>/,
    jsonCalls({
      marks: ['<tool_call>'],
      open: '<tool_call>\n',
      close: '\n</tool_call>',
      separator: '\n',
    }),
  ],
  [
    'Llama 3',
    /<\|python_tag\|>|"parameters": ?dict/,
    jsonCalls({ marks: ['<|python_tag|>'], bare: true, field: 'parameters' }),
  ],
];

/** How the models with a chat template write calls; undefined: unknown. */
export function toolFormatOf(template: string): ToolFormat | undefined {
  return FORMATS.find(([, isOf]) => isOf.test(template))?.[2];
}
