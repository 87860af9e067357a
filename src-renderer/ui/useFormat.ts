import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { formatAgo, formatBytes, formatDate, formatDuration, formatNumber, formatPercent } from './format.ts';

const MINUTE_MS = 60_000;

/** The formatters of format.ts in the window's language. They change every minute, because "5 minutes ago" becomes outdated. */
export function useFormat() {
  const { i18n } = useTranslation();
  return useSyncExternalStore(everyMinute, () => formatsNow(i18n.language));
}

let latest = { language: '', minute: 0, formats: formatsIn('') };

function formatsNow(language: string): ReturnType<typeof formatsIn> {
  const minute = Math.floor(Date.now() / MINUTE_MS);
  if (latest.language !== language || latest.minute !== minute)
    latest = { language, minute, formats: formatsIn(language) };
  return latest.formats;
}

function formatsIn(language: string) {
  return {
    bytes: (bytes: number) => formatBytes(bytes, language),
    number: (value: number, digits = 0) => formatNumber(value, language, digits),
    percent: (share: number, digits = 0) => formatPercent(share, language, digits),
    duration: (ms: number) => formatDuration(ms, language),
    date: (atMs: number) => formatDate(atMs, language),
    ago: (atMs: number) => formatAgo(atMs, language),
  };
}

function everyMinute(tell: () => void): () => void {
  const timer = setInterval(tell, MINUTE_MS);
  return () => clearInterval(timer);
}
