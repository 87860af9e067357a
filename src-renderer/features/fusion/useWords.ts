import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheFolder } from '../../../src-shared/contract/cache.ts';
import { useCall } from '../../client/context.tsx';
import { useFormat } from '../../ui/useFormat.ts';

type Format = ReturnType<typeof useFormat>;

/** The panel's translations, and number formats for the window's language. */
export interface Words {
  t: TFunction<['fusion', 'stages', 'strategies', 'compare', 'common']>;
  format: Format;
  /** Three significant digits: deviations span many orders of magnitude. */
  significant: (value: number) => string;
  share: (value: number) => string;
  /** The folders that chunks are stored in. */
  folders: readonly Pick<CacheFolder, 'id' | 'path'>[];
}

export function useWords(): Words {
  const { t, i18n } = useTranslation(['fusion', 'stages', 'strategies', 'compare', 'common']);
  const format = useFormat();
  const folders = useCall('cache.folders').data?.folders;
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
      folders: folders ?? [],
    };
  }, [t, format, i18n.language, folders]);
}
