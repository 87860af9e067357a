import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';

/** The display name of a step. */
export function useStepName({ steps }: Pick<Analysis, 'steps'>): (step: Step) => string {
  const { t } = useTranslation('analysis');
  return ({ id, kind, from, to, question }) => {
    if (kind === 'question') return question;
    const windows = steps.filter((step) => step.kind === 'window').length;
    if (kind === 'combine' && from === 0 && to === windows) return t('view.all');
    if (kind === 'combine') return t('view.combined', { from: from + 1, to });
    return t('view.window', { number: steps.findIndex((step) => step.id === id) + 1 });
  };
}
