import type { Command } from 'commander';
import { DEFAULT_RATIO, type StrategyChoice } from '../../../../../src-shared/strategy.ts';
import { comparedTables } from './compared-tables.ts';
import type { CommandContext } from '../../context.ts';
import { withAnswer } from '../../../client/ask.ts';
import { stoppable } from '../../../client/stoppable.ts';
import { addAnswerFlags, addModelFlags, addTopKFlag, path, type ModelFlags } from '../../options.ts';
import { strategyList } from '../../strategy-flags.ts';
import { prepare } from '../../prepare.ts';
import { withProfile } from '../../with-profile.ts';

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
  const command = program
    .command('compare')
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
    .option('--json', 'print one JSON object instead of tables');
  addAnswerFlags(addTopKFlag(addModelFlags(command, context)));
  command.action((question: string, flags: CompareFlags) => run(question, flags, context));
}

async function run(question: string, flags: CompareFlags, context: CommandContext): Promise<void> {
  const { terminal, signal } = context;
  const { library, strategies = DEFAULT_STRATEGIES, deep = false, maxTokens: answerTokens } = flags;
  const display = terminal.progress();
  await withProfile(context, flags, async (client, model) => {
    const { libraryId } = await prepare(client, { model, library, precompute: true, terminal, signal });
    client.on('compare.progress', ({ done, total }) =>
      display.update({ phase: 'measuring', done: Math.floor(done), total, tokens: 0 }),
    );
    const scope = { libraryIds: [libraryId] };
    const asked = { question, scope, strategy: { name: 'full' as const }, maxTokens: 1, signal };
    const comparison = await withAnswer(client, asked, ({ id: answerId }) =>
      stoppable(
        signal,
        () => client.call('chat.stopCompare'),
        () => client.call('chat.compare', { answerId, strategies, deep, answerTokens }),
      ),
    );
    display.stop();
    terminal.out(
      `${flags.json === true ? JSON.stringify(comparison, null, 2) : comparedTables(comparison)}\n`,
    );
  }).finally(() => display.stop());
}
