import type { ComparedMethod, Comparison } from '../../../../src-shared/comparison.ts';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import type { Words } from '../useWords.ts';
import { fullOf, isAboutTheSame, judged, nameOf, reuseOf, timesSooner } from './methods.ts';
import { isSameWriting } from './text-diff.ts';

/** Captions of the comparison: the answer's own method, then full reuse, against the full prefill. */
export function comparisonCaption(comparison: Comparison, words: Words, language: string): string {
  const ways = [judged(comparison), reuseOf(comparison)].filter((way) => way !== undefined);
  const full = fullOf(comparison);
  if (!full || ways.length === 0) return words.t('compare:nothing');
  return joinSentences(ways.map((way) => sentence(way, full, comparison, words, language)));
}

function sentence(
  way: ComparedMethod,
  full: ComparedMethod,
  comparison: Comparison,
  words: Words,
  language: string,
): string {
  const { t, format, significant } = words;
  const times = timesSooner(way, comparison) ?? 1;
  const text = t(isSameWriting(full, way, language) ? 'compare:lead.same' : 'compare:lead.other');
  const verdict = isAboutTheSame(way, comparison) ? 'near' : times > 1 ? 'sooner' : 'later';
  return t(`compare:lead.${verdict}`, {
    name: nameOf(way, words),
    times: format.number(times >= 1 ? times : 1 / times, 1),
    ttft: format.duration(way.ttftMs.total),
    full: format.duration(full.ttftMs.total),
    kl: significant(way.kl),
    text,
  });
}
