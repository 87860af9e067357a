import { createInstance } from 'i18next';
import { en } from '../../i18n/words.ts';
import { zh } from '../../i18n/zh/index.ts';
import {
  formatAgo,
  formatBytes,
  formatDate,
  formatDuration,
  formatNumber,
  formatPercent,
} from '../../ui/format.ts';
import type { Words } from './useWords.ts';

/** The panel's translations without a window. */
export async function wordsOf(language: 'en' | 'zh', folders: Words['folders'] = []): Promise<Words> {
  const i18n = createInstance();
  const interpolation = { escapeValue: false };
  await i18n.init({ resources: { en, zh }, lng: language, ns: Object.keys(en), interpolation });
  return {
    t: i18n.getFixedT(language, ['fusion', 'stages', 'strategies', 'compare', 'common']),
    format: {
      bytes: (bytes) => formatBytes(bytes, language),
      number: (value, digits) => formatNumber(value, language, digits),
      percent: (share, digits) => formatPercent(share, language, digits),
      duration: (ms) => formatDuration(ms, language),
      date: (atMs) => formatDate(atMs, language),
      ago: (atMs) => formatAgo(atMs, language),
    },
    significant: String,
    share: (value) => formatPercent(value, language),
    folders,
  };
}
