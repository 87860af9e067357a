import type { ComparedMethod, Comparison } from '../../../../src-shared/comparison.ts';
import type { TimedRow } from '../../../viz/bars.ts';
import { STAGE_COLOURS, STAGES } from '../../../viz/stages.ts';
import { strategyName } from '../strategy-name.ts';
import type { Words } from '../useWords.ts';

/** A comparison's methods, with their derived figures. */

export function nameOf({ kind, strategy }: Pick<ComparedMethod, 'kind' | 'strategy'>, words: Words): string {
  return kind === 'blend' ? strategyName(strategy, words) : words.t(`compare:kind.${kind}`);
}

export function fullOf({ methods }: Comparison): ComparedMethod | undefined {
  return methods.find(({ kind }) => kind === 'full');
}

/** Speed-up of the TTFT over the full prefill; undefined for the full prefill itself. */
export function timesSooner(method: ComparedMethod, comparison: Comparison): number | undefined {
  const full = fullOf(comparison)?.ttftMs.total;
  return full === undefined || method.kind === 'full'
    ? undefined
    : full / Math.max(1e-9, method.ttftMs.total);
}

/** The method being judged: the answer's own, or the first blend if the answer used a full prefill. */
export function judged({ methods }: Comparison): ComparedMethod | undefined {
  const blends = methods.filter(({ kind }) => kind === 'blend');
  return blends.find(({ answered }) => answered) ?? blends[0];
}

export function reuseOf({ methods }: Comparison): ComparedMethod | undefined {
  return methods.find(({ kind }) => kind === 'reuse');
}

/** Each method is timed once: differences within this factor are noise. */
const NOISE = 1.3;

/** A method with less of the prompt than this precomputed did practically all the work of a full prefill. */
const LITTLE = 0.05;

/** Whether the TTFT equals that of the full prefill, as far as a single run can tell. */
export function isAboutTheSame(method: ComparedMethod, comparison: Comparison): boolean {
  const times = timesSooner(method, comparison) ?? 1;
  const ready = method.residentTokens + method.reusedTokens;
  return ready < comparison.promptTokens * LITTLE || (times <= NOISE && times >= 1 / NOISE);
}

export function barRows(comparison: Comparison, words: Words): TimedRow[] {
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

/** The quality figures of a method, as name and value. */
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
