import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../ui/useFormat.ts';

type Format = ReturnType<typeof useFormat>;

/** The panel's translations, and number formats for the window's language. */
export interface Words {
  t: TFunction<['fusion', 'stages', 'strategies', 'compare', 'common']>;
  format: Format;
  /** Three significant digits: deviations span many orders of magnitude. */
  significant: (value: number) => string;
  share: (value: number) => string;
}

export function useWords(): Words {
  const { t, i18n } = useTranslation(['fusion', 'stages', 'strategies', 'compare', 'common']);
  const format = useFormat();
  return useMemo(() => {
    const digits = new Intl.NumberFormat(i18n.language, { maximumSignificantDigits: 3 });
    const tiny = new Intl.NumberFormat(i18n.language, {
      notation: 'scientific',
      maximumSignificantDigits: 2,
    });
    return {
      t,
      format,
      significant: (value) => (value !== 0 && Math.abs(value) < 1e-3 ? tiny : digits).format(value),
      share: (value) => format.percent(value, value > 0 && value < 0.0995 ? 1 : 0),
    };
  }, [t, format, i18n.language]);
}
