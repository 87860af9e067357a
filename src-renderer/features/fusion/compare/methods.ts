import type { ComparedMethod, Comparison } from '../../../../src-shared/comparison.ts';
import type { ColouredRow } from '../../../viz/bars/bars.ts';
import { STAGE_COLOURS, STAGES } from '../../../viz/stages.ts';
import { strategyName } from '../strategy-name.ts';
import type { Words } from '../useWords.ts';

/** A comparison's ways, with what is said of them. */

export function nameOf({ kind, strategy }: Pick<ComparedMethod, 'kind' | 'strategy'>, words: Words): string {
  return kind === 'blend' ? strategyName(strategy, words) : words.t(`compare:kind.${kind}`);
}

export function fullOf({ methods }: Comparison): ComparedMethod | undefined {
  return methods.find(({ kind }) => kind === 'full');
}

/** How many times sooner than the full prefill the first token came; undefined for the full prefill itself. */
export function timesSooner(method: ComparedMethod, comparison: Comparison): number | undefined {
  const full = fullOf(comparison)?.ttftMs.total;
  return full === undefined || method.kind === 'full'
    ? undefined
    : full / Math.max(1e-9, method.ttftMs.total);
}

/** The way that is judged: the answer's own, or the first blend where the answer was made in full. */
export function judged({ methods }: Comparison): ComparedMethod | undefined {
  const blends = methods.filter(({ kind }) => kind === 'blend');
  return blends.find(({ answered }) => answered) ?? blends[0];
}

export function reuseOf({ methods }: Comparison): ComparedMethod | undefined {
  return methods.find(({ kind }) => kind === 'reuse');
}

/** Each way is timed once: a difference within this factor is noise. */
const NOISE = 1.3;

/** A way that had less of the prompt than this ready did as good as all the work of a full prefill. */
const LITTLE = 0.05;

/** Whether a first token came about as soon as that of the full prefill, as far as one run can tell. */
export function isAboutTheSame(method: ComparedMethod, comparison: Comparison): boolean {
  const times = timesSooner(method, comparison) ?? 1;
  const ready = method.residentTokens + method.reusedTokens;
  return ready < comparison.promptTokens * LITTLE || (times <= NOISE && times >= 1 / NOISE);
}

export function barRows(comparison: Comparison, words: Words): ColouredRow[] {
  const { t, format } = words;
  return comparison.methods.map((method) => {
    const times = timesSooner(method, comparison);
    const value = format.duration(method.ttftMs.total);
    return {
      label: nameOf(method, words),
      value:
        times === undefined
          ? value
          : `${value} · ${isAboutTheSame(method, comparison) ? t('compare:aboutSame') : t('compare:times', { times: format.number(times, 1) })}`,
      stages: STAGES.map((stage) => ({ ms: method.ttftMs[stage], colour: STAGE_COLOURS[stage] })),
    };
  });
}

/** The numbers of a way that tell how good its answer is, as name and value. */
export function qualityRows(method: ComparedMethod, words: Words): [string, string][] {
  const { t, format, significant, share } = words;
  const { recomputedTokens, reusedTokens, residentTokens, kl, agrees, answerF1 } = method;
  const rows: [string, string][] = [];
  if (residentTokens > 0) rows.push([t('compare:row.resident'), format.number(residentTokens)]);
  if (reusedTokens > 0)
    rows.push([
      t('compare:row.recomputed'),
      t('compare:recomputedOf', {
        recomputed: format.number(recomputedTokens),
        reused: format.number(reusedTokens),
      }),
    ]);
  if (method.kind !== 'full')
    rows.push(
      [t('compare:row.kl'), significant(kl)],
      [t('compare:row.agrees'), t(agrees ? 'tokens.yes' : 'tokens.no')],
      [t('compare:row.f1'), share(answerF1)],
    );
  return rows;
}
