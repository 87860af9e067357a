import { useTranslation } from 'react-i18next';
import type { HubEntry } from '../../../../src-shared/contract/hub.ts';
import { useFormat } from '../../../ui/useFormat.ts';

/** One-line summary of a repository. */
export function useEntryFacts({
  architecture,
  parameterCount,
  license,
  downloads,
  updatedMs,
}: HubEntry): string[] {
  const { t } = useTranslation(['hub', 'models']);
  const format = useFormat();
  const count = (parameters: number): string =>
    parameters >= 1e9
      ? t('models:billion', { value: format.number(parameters / 1e9, 1) })
      : t('models:million', { value: format.number(parameters / 1e6) });
  return [
    architecture,
    parameterCount !== null && t('models:facts.parameters', { amount: count(parameterCount) }),
    license === '' ? t('licenseNone') : t('license', { license }),
    t('downloads', { count: downloads }),
    updatedMs > 0 && t('updated', { ago: format.ago(updatedMs) }),
  ].filter((fact) => fact !== false && fact !== '') as string[];
}
