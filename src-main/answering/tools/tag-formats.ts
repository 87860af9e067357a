import type { FormatRow, ToolFormat } from './format.ts';
import { parameterCalls } from './parameter-calls.ts';

/** Formats with a tag for each parameter of a call, besides those of Qwen and GLM. */
export const TAG_FORMATS: readonly FormatRow[] = [
  ['DeepSeek V3.2', /｜DSML｜[^]*function_calls>/, dsmlCalls('function_calls')],
  ['DeepSeek V4', /｜DSML｜/, dsmlCalls('tool_calls')],
  [
    'MiniMax M2',
    /<minimax:tool_call>/,
    parameterCalls({
      marks: ['<minimax:tool_call>'],
      before: '<minimax:tool_call>\n',
      after: '</minimax:tool_call>',
      separator: '',
      head: /<invoke name="([^"]+)">/,
      parameter: /<parameter name="(?<key>[^"]+)">(?<value>[^]*?)<\/parameter>/g,
      end: '</invoke>\n',
      nameRule: ['"<invoke name=\\""', String.raw`"\">\n"`],
      parameterRule: ['"<parameter name=\\""', String.raw`"\">"`, String.raw`"</parameter>\n"`],
      valueEnd: '</parameter>',
      endRule: String.raw`"</invoke>\n"`,
    }),
  ],
  [
    'Seed-OSS',
    /<seed:tool_call>/,
    parameterCalls({
      marks: ['<seed:tool_call>'],
      separator: '\n',
      head: /<function=([^>\s]+)>/,
      parameter: /<parameter=(?<key>[^>\s]+)>(?<value>[^]*?)<\/parameter>/g,
      end: '</function>',
      nameRule: [String.raw`"<seed:tool_call>\n<function="`, String.raw`">\n"`],
      parameterRule: ['"<parameter="', '">"', String.raw`"</parameter>\n"`],
      valueEnd: '</parameter>',
      endRule: String.raw`"</function>\n</seed:tool_call>"`,
    }),
  ],
];

/** DeepSeek's markup; `block`: the tag around all calls. */
function dsmlCalls(block: string): ToolFormat {
  return parameterCalls({
    marks: [`<｜DSML｜${block}>`],
    before: `<｜DSML｜${block}>\n`,
    after: `</｜DSML｜${block}>`,
    separator: '',
    head: /<｜DSML｜invoke name="([^"]+)">/,
    parameter:
      /<｜DSML｜parameter name="(?<key>[^"]+)"(?: string="(?<text>true|false)")?>(?<value>[^]*?)<\/｜DSML｜parameter>/g,
    end: '</｜DSML｜invoke>\n',
    nameRule: ['"<｜DSML｜invoke name=\\""', String.raw`"\">\n"`],
    parameterRule: [
      '"<｜DSML｜parameter name=\\""',
      (isText) => String.raw`"\" string=\"${isText}\">"`,
      String.raw`"</｜DSML｜parameter>\n"`,
    ],
    valueEnd: '</｜DSML｜parameter>',
    endRule: String.raw`"</｜DSML｜invoke>\n"`,
  });
}
