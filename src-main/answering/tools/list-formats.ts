import type { FormatRow } from './format.ts';
import { jsonCalls, keyedCalls } from './json-calls.ts';
import { pythonCalls } from './python-calls.ts';

const GIGACHAT_CALL = 'function call<|role_sep|>\n';

/** Formats with one list for all calls of an answer, and those with one call. */
export const LIST_FORMATS: readonly FormatRow[] = [
  [
    'Cohere Command R7B and A',
    /<\|START_ACTION\|>/,
    jsonCalls({
      marks: ['<|START_ACTION|>'],
      before: '<|START_ACTION|>[\n    ',
      after: '\n]<|END_ACTION|>',
      separator: ',\n    ',
      name: 'tool_name',
      field: 'parameters',
      beforeName: String.raw`"\"tool_call_id\": \"" [0-9]{1,3} "\", "`,
    }),
  ],
  [
    'Cohere Command R',
    /Action:(?:\\n|\n)```json/,
    jsonCalls({
      marks: ['Action: ```json\n', 'Action:\n```json\n'],
      before: 'Action:\n```json\n[\n    ',
      after: '\n]```',
      separator: ',\n    ',
      name: 'tool_name',
      field: 'parameters',
      beforeName: String.raw`"\n        "`,
      beforeField: String.raw`"\n        "`,
    }),
  ],
  [
    'GigaChat 3.1',
    /<\|function_call\|>/,
    jsonCalls({ marks: ['<|function_call|>'], open: '<|function_call|>' }),
  ],
  [
    'GigaChat 3',
    /<\|role_sep\|>/,
    jsonCalls({
      marks: [`<|message_sep|>\n\n${GIGACHAT_CALL}`, GIGACHAT_CALL],
      before: `<|message_sep|>\n\n${GIGACHAT_CALL}`,
    }),
  ],
  [
    'Phi 4 mini',
    /<\|\/tool_call\|>/,
    jsonCalls({ marks: ['<|tool_call|>'], open: '<|tool_call|>', close: '<|/tool_call|>', separator: '' }),
  ],
  [
    'Granite 3',
    /<\|tool_call\|>/,
    jsonCalls({ marks: ['<|tool_call|>'], before: '<|tool_call|>[', after: ']', separator: ', ' }),
  ],
  [
    'Nemotron Nano 2',
    /<TOOLCALL>/,
    jsonCalls({ marks: ['<TOOLCALL>'], before: '<TOOLCALL>[', after: ']</TOOLCALL>', separator: ', ' }),
  ],
  [
    'Apriel',
    /<tool_calls>\[/,
    jsonCalls({
      marks: ['<tool_calls>'],
      before: '<tool_calls>[',
      after: ']</tool_calls>',
      separator: ', ',
    }),
  ],
  [
    'Apertus',
    /<\|tools_prefix\|>/,
    keyedCalls({
      marks: ['<|tools_prefix|>'],
      before: '<|tools_prefix|>[',
      after: ']<|tools_suffix|>',
      separator: ', ',
    }),
  ],
  [
    'LFM2',
    /<\|tool_(?:call|list)_start\|>|List of tools: \[/,
    pythonCalls({
      marks: ['<|tool_call_start|>'],
      before: '<|tool_call_start|>[',
      after: ']<|tool_call_end|>',
      separator: ', ',
    }),
  ],
];
