import type { ComparedMethod, Comparison, DeepPrompt } from '../../../../../src-shared/comparison.ts';
import { takesRatio } from '../../../../../src-shared/strategy.ts';
import { mean } from '../../../../fusion/averages.ts';
import { figureTable, percent, small } from '../../figures.ts';

/** The results of a comparison as tables; deviations only for a deep one. */
export function comparedTables(compared: Comparison): string {
  const { model, device, dtype, promptTokens, answerTokens, methods, deep } = compared;
  const heading =
    `${model || 'The model'} on ${device} with ${dtype} chunks; a prompt of ${promptTokens} tokens, ` +
    `answers of at most ${answerTokens} tokens, chosen greedily.`;
  const texts = methods.map(
    (method) => `${methodName(method)}: ${method.text.replace(/\s+/g, ' ') || nothingOf(method)}`,
  );
  const parts = [methodTable(methods), heading, texts.join('\n')];
  if (deep) parts.push(layerTable(methods), LAYERS_MEAN, sweepTable(deep), sweepHeading(deep));
  return parts.join('\n\n');
}

function nothingOf({ thought }: ComparedMethod): string {
  return thought === '' ? '(nothing)' : '(nothing yet: it was still thinking)';
}

const LAYERS_MEAN =
  'By layer, for every way that reuses: mean squared distance of the cached tokens’ values from those of the full prefill, and distance of ' +
  'the attention of the question’s last tokens (0 to 1.41).';

function sweepHeading({ sweep }: DeepPrompt): string {
  return `The same by the share that ${sweep.strategy} recomputes; distances are means over layers.`;
}

function methodTable(methods: readonly ComparedMethod[]): string {
  const head = [
    'way',
    'first token after',
    'of full',
    'in memory',
    'reused',
    'recomputed',
    'KL',
    'same first token',
    'answer F1',
  ];
  const table = figureTable(head, 1);
  const full = methods.find(({ kind }) => kind === 'full')?.ttftMs.total ?? Number.NaN;
  for (const method of methods) {
    const { ttftMs, residentTokens, reusedTokens, recomputedTokens, kl, agrees, answerF1 } = method;
    table.push([
      methodName(method),
      `${ttftMs.total.toFixed(1)} ms`,
      `${(ttftMs.total / full).toFixed(2)} ×`,
      residentTokens,
      reusedTokens,
      recomputedTokens,
      small(kl),
      agrees ? 'yes' : 'no',
      answerF1.toFixed(3),
    ]);
  }
  return table.toString();
}

function layerTable(methods: readonly ComparedMethod[]): string {
  const deep = methods.filter((method) => method.deep !== null);
  const head = ['layer', ...deep.flatMap((method) => [`${methodName(method)}: values`, 'attention'])];
  const table = figureTable(head, 0);
  for (const layer of deep[0]?.deep?.layers.keys() ?? []) {
    const cells = deep.flatMap((method) => {
      const at = method.deep?.layers[layer];
      return [small(meanOf(at?.v)), small(at?.attention ?? 0)];
    });
    table.push([layer, ...cells]);
  }
  return table.toString();
}

function sweepTable({ sweep }: DeepPrompt): string {
  const head = ['ratio', 'recomputed', 'KL', 'same first token', 'values', 'attention'];
  const table = figureTable(head, 0);
  for (const { ratio, recomputedTokens, kl, agrees, v, attention } of sweep.points) {
    const row = [small(kl), agrees ? 'yes' : 'no', small(mean(v)), small(mean(attention))];
    table.push([percent(ratio), recomputedTokens, ...row]);
  }
  return table.toString();
}

function methodName({ kind, strategy: { name, ratio } }: ComparedMethod): string {
  if (kind !== 'blend') return { full: 'full prefill', prefix: 'prefix cache', reuse: 'full reuse' }[kind];
  return takesRatio(name) ? `${name} ${percent(ratio)}` : name;
}

type LayerSplit = NonNullable<ComparedMethod['deep']>['layers'][number]['v'];

function meanOf(stats: LayerSplit | undefined): number {
  const parts = [stats?.recomputed, stats?.stored].flatMap((part) => part ?? []);
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  return parts.reduce((sum, part) => sum + part.mean * part.tokens, 0) / Math.max(1, tokens);
}
