import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatAgo, formatBytes, formatDuration, formatNumber, formatPercent } from './format.ts';

/** The formatters of format.ts in the window's language. */
export function useFormat() {
  const { i18n } = useTranslation();
  const { language } = i18n;
  return useMemo(
    () => ({
      bytes: (bytes: number) => formatBytes(bytes, language),
      number: (value: number, digits = 0) => formatNumber(value, language, digits),
      percent: (share: number, digits = 0) => formatPercent(share, language, digits),
      duration: (ms: number) => formatDuration(ms, language),
      ago: (atMs: number) => formatAgo(atMs, language),
    }),
    [language],
  );
}
