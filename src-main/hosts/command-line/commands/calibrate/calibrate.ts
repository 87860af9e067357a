import { InvalidArgumentError, type Command } from 'commander';
import {
  CALIBRATION_RATIOS,
  CALIBRATION_STRATEGIES,
  CalibrationRequestSchema,
  type Calibration,
  type CalibrationPoint,
} from '../../../../../src-shared/contract/calibration.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { firstIssue } from '../../../../../src-shared/settings.ts';
import { sameStrategy, type StrategyChoice } from '../../../../../src-shared/strategy.ts';
import type { CommandContext } from '../../context.ts';
import { figureTable, percent, small } from '../../figures.ts';
import { addModelFlags, addTopKFlag, integer, path, type ModelFlags } from '../../options.ts';
import { prepare } from '../../prepare.ts';
import { withProfile } from '../../with-profile.ts';
import { stoppable } from '../../../client/stoppable.ts';

interface CalibrateFlags extends ModelFlags {
  library?: string;
  strategies?: string[];
  ratios?: number[];
  questions?: number;
  json?: boolean;
}

export function addCalibrateCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('calibrate')
    .description(
      'measure answer quality under blending, by strategy and ratio, against full prefill; the cheapest that keeps the quality becomes the default',
    )
    .option(
      '--library <dir>',
      'folder of documents to measure with (default: the sample library)',
      path(context),
    )
    .option(
      '--strategies <names>',
      `separated by commas (default: ${CALIBRATION_STRATEGIES.join(',')})`,
      list,
    )
    .option('--ratios <shares>', `separated by commas (default: ${CALIBRATION_RATIOS.join(',')})`, numbers)
    .option('--questions <n>', 'prompts at most (default: 12)', integer(1))
    .option('--json', 'print one JSON object instead of the table');
  addTopKFlag(addModelFlags(command, context));
  command.action((flags: CalibrateFlags) => run(flags, context));
}

async function run(flags: CalibrateFlags, context: CommandContext): Promise<void> {
  const { terminal, signal } = context;
  const { library, strategies, ratios, questions: prompts } = flags;
  const request = CalibrationRequestSchema.safeParse({ strategies, ratios, prompts });
  if (!request.success) {
    const message = `Invalid calibration options: ${firstIssue(request.error)}.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'See calibrate --help.');
  }
  const display = terminal.progress();
  await withProfile(context, flags, async (client, model) => {
    const { libraryId } = await prepare(client, { model, library, precompute: false, terminal, signal });
    client.on('calibration.progress', ({ done, total }) =>
      display.update({ phase: 'measuring', done, total, tokens: 0 }),
    );
    const calibration = await stoppable(
      signal,
      () => client.call('calibration.stop'),
      () => client.call('calibration.run', { ...request.data, libraryId }),
    );
    display.stop();
    if (flags.json === true) terminal.out(`${JSON.stringify(calibration, null, 2)}\n`);
    else
      terminal.out(
        `${tableOf(calibration)}\n\n${heading(calibration)}\n${verdict(calibration)}\n${formatLines(calibration)}\n`,
      );
  }).finally(() => display.stop());
}

function tableOf({ points, fullMs, choice }: Calibration): string {
  const head = ['strategy', 'ratio', 'KL', 'worst KL', 'same tokens', 'recomputed', 'prefill', 'of full'];
  const table = figureTable(head, 1);
  for (const point of points) table.push(row(point, fullMs, sameStrategy(point.strategy, choice.strategy)));
  table.push(['full', '', '0', '0', '100 %', '100 %', `${fullMs.toFixed(1)} ms`, '1.00 ×']);
  return table.toString();
}

function row(point: CalibrationPoint, fullMs: number, chosen: boolean): string[] {
  const { strategy, kl, klMax, agreement, recomputedShare, ms } = point;
  return [
    chosen ? `${nameOf(strategy)} ←` : nameOf(strategy),
    strategy.name === 'none' ? '' : percent(strategy.ratio),
    small(kl),
    small(klMax),
    percent(agreement),
    percent(recomputedShare),
    `${ms.toFixed(1)} ms`,
    `${(ms / fullMs).toFixed(2)} ×`,
  ];
}

function heading(calibration: Calibration): string {
  const { model, device, dtype, texts, textKind, prompts, promptTokens, answerTokens } = calibration;
  const how = texts.kind === 'questions' ? 'questions about it' : 'questions about what its documents name';
  return (
    `${model || 'The model'} on ${device} with ${dtype} chunks, encoded ${textKind === 'headings' ? 'after their headings' : 'alone'}; library ${texts.library}: ${prompts} ${how}, ` +
    `${Math.round(promptTokens / prompts)} tokens each on average, answers of at most ${answerTokens} tokens.`
  );
}

function verdict({ choice: { verdict, strategy }, floor, points, fullMs }: Calibration): string {
  const bar = `KL ≤ ${floor.maxKl} and the same token in ≥ ${percent(floor.minAgreement)}`;
  if (verdict === 'quality') {
    return (
      `Blending is unsuitable for this model: nothing below a ratio of 100 % keeps ${bar}.  ` +
      'It answers by full prefill from now on; a conversation can still choose otherwise.'
    );
  }
  if (verdict === 'slower') {
    return `Blending keeps ${bar}, but takes no less time than a full prefill here, which is therefore the default.`;
  }
  const point = points.find((candidate) => sameStrategy(candidate.strategy, strategy));
  const ratio = strategy.name === 'none' ? '' : ` at ${percent(strategy.ratio)}`;
  const cost = point ? `, ${(point.ms / fullMs).toFixed(2)} × the time of a full prefill` : '';
  return `The default for such text from now on: ${nameOf(strategy)}${ratio}, the cheapest that keeps ${bar}${cost}.`;
}

/** What each number format of chunks changes, against f16. */
function formatLines({ formats }: Calibration): string {
  const lines = formats.map(
    ({ dtype, kl, klMax, agreement }) =>
      `${dtype} chunks against f16: KL ${small(kl)}, worst ${small(klMax)}, same token in ${percent(agreement)}.`,
  );
  return lines.join('\n');
}

function nameOf({ name, checkLayers, questionLayers }: StrategyChoice): string {
  const at = [
    ...(checkLayers ? [`checked at ${checkLayers.join(', ')}`] : []),
    ...(questionLayers ? [`question at ${questionLayers.join(', ')}`] : []),
  ];
  return at.length > 0 ? `${name} (${at.join('; ')})` : name;
}

function list(value: string): string[] {
  return value.split(',').map((name) => name.trim());
}

function numbers(value: string): number[] {
  return list(value).map((text) => {
    const number = Number(text);
    if (text === '' || !Number.isFinite(number))
      throw new InvalidArgumentError('It must be numbers separated by commas, such as 0.05,0.15,1.');
    return number;
  });
}
