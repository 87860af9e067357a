/** Number formats for the window's language. */

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function formatBytes(bytes: number, language: string): string {
  const exponent = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), BYTE_UNITS.length - 1);
  const value = bytes / 1000 ** exponent;
  const digits = exponent === 0 || value >= 100 ? 0 : 1;
  return `${formatNumber(value, language, digits)} ${BYTE_UNITS[exponent] ?? ''}`;
}

export function formatNumber(value: number, language: string, maximumFractionDigits = 0): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits }).format(value);
}

export function formatPercent(share: number, language: string, maximumFractionDigits = 0): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits }).format(share);
}

/** Milliseconds as "85 ms", "1.2 s", "3 min 20 s", "2 h 5 min". */
export function formatDuration(ms: number, language: string): string {
  const unit = (value: number, name: string, digits = 0): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value);
  return apart(durationParts(ms, unit));
}

/** Chinese units are separated from digits by a space, as in the window's texts. */
function apart(text: string): string {
  return text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');
}

function durationParts(ms: number, unit: (value: number, name: string, digits?: number) => string): string {
  if (ms < 1000) return unit(ms, 'millisecond', ms < 10 ? 1 : 0);
  const seconds = ms / 1000;
  if (seconds < 60) return unit(seconds, 'second', seconds < 10 ? 1 : 0);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${unit(minutes, 'minute')} ${unit(Math.round(seconds % 60), 'second')}`;
  return `${unit(Math.floor(minutes / 60), 'hour')} ${unit(minutes % 60, 'minute')}`;
}

export function formatDate(atMs: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(atMs);
}

/** "5 minutes ago"; the date if it was more than a week ago. */
export function formatAgo(atMs: number, language: string, nowMs = Date.now()): string {
  const seconds = (atMs - nowMs) / 1000;
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (seconds > -60) return apart(relative.format(Math.min(0, Math.round(seconds)), 'second'));
  if (seconds > -3600) return apart(relative.format(Math.round(seconds / 60), 'minute'));
  if (seconds > -86_400) return apart(relative.format(Math.round(seconds / 3600), 'hour'));
  if (seconds > -7 * 86_400) return apart(relative.format(Math.round(seconds / 86_400), 'day'));
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(atMs);
}
