import { Command } from 'commander';
import { CompareRequestSchema } from '../../../../../src-shared/contract/chat.ts';
import { DEFAULT_RATIO, type StrategyChoice } from '../../../../../src-shared/strategy.ts';
import { comparedTables } from './compared-tables.ts';
import type { CommandContext } from '../../context.ts';
import { addModelFlags, path, type ModelFlags } from '../../options.ts';
import { strategyList } from '../../strategy-flags.ts';
import { prepare } from '../../prepare.ts';
import { withWorkspace } from '../../with-workspace.ts';

interface CompareFlags extends ModelFlags {
  library?: string;
  strategies?: StrategyChoice[];
  deep?: boolean;
  json?: boolean;
}

const DEFAULT_STRATEGIES: StrategyChoice[] = [
  { name: 'deviation', ratio: DEFAULT_RATIO },
  { name: 'query', ratio: DEFAULT_RATIO },
];

export function addCompareCommand(program: Command, context: CommandContext): void {
  const command = new Command('compare')
    .description(
      "make a question's prompt by full prefill, prefix caching, full reuse and blending, and show what that changes",
    )
    .argument('<question>')
    .option('--library <dir>', 'folder of documents (default: the sample library)', path(context))
    .option(
      '--strategies <list>',
      `ways to blend, separated by commas, each with a ratio if it is not ${DEFAULT_RATIO} (default: deviation,query)`,
      strategyList,
    )
    .option('--deep', 'also how far keys, values and attention are from the full prefill, and over ratios')
    .option('--json', 'print one JSON object instead of tables')
    .copyInheritedSettings(program);
  addModelFlags(command, context);
  command.action((question: string, flags: CompareFlags) => run(question, flags, context));
  program.addCommand(command);
}

async function run(question: string, flags: CompareFlags, context: CommandContext): Promise<void> {
  const { terminal, signal } = context;
  const display = terminal.progress();
  await withWorkspace(context, flags, async (app, workspace) => {
    await prepare(workspace, { terminal, signal, precompute: true });
    const { answerTokens } = CompareRequestSchema.parse({ answerId: 'none', answerTokens: flags.maxTokens });
    const compared = await workspace.answers.compare({
      question,
      answerTokens,
      signal,
      topK: workspace.settings.current.topK,
      strategies: flags.strategies ?? DEFAULT_STRATEGIES,
      deep: flags.deep === true,
      onProgress: ({ done, total }) =>
        display.update({
          phase: 'measuring',
          done: Math.floor(done),
          total,
          tokens: 0,
          secondsLeft: undefined,
        }),
    });
    display.stop();
    if (flags.json === true) terminal.out(`${JSON.stringify({ question, ...compared }, null, 2)}\n`);
    else terminal.out(`${comparedTables(compared)}\n`);
  }).finally(() => display.stop());
}
