/** Languages whose names of months and weekdays are known. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'fi', 'ru'];

const months = namesIn(
  'month',
  Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2001, month, 15))),
);

/** Month names in lower case, and their numbers from 1. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  months.flatMap((names, month) => names.map((name) => [name, month + 1] as const)),
);

/** Longest first, for a pattern. */
export const MONTH_NAMES = [...MONTHS.keys()].sort((a, b) => b.length - a.length);

/** Weekday names in lower case. */
export const WEEKDAYS: ReadonlySet<string> = new Set(
  namesIn(
    'weekday',
    Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2001, 0, 1 + day))),
  ).flat(),
);

/** The names of each date's month or weekday. Every format is made once: making one takes far longer than using it. */
function namesIn(part: 'month' | 'weekday', dates: readonly Date[]): string[][] {
  const formats = LANGUAGES.flatMap((language) =>
    (['long', 'short'] as const).flatMap((style) => {
      // Next to a day the month is in the genitive, where the language has one.
      const options: Intl.DateTimeFormatOptions[] = [{ [part]: style }, { [part]: style, day: 'numeric' }];
      return options.map((each) => new Intl.DateTimeFormat(language, { ...each, timeZone: 'UTC' }));
    }),
  );
  return dates.map((date) => {
    const forms = formats.map(
      (format) => format.formatToParts(date).find(({ type }) => type === part)?.value,
    );
    const letters = forms.map((name) => (name ?? '').toLowerCase().replace(/\.$/u, ''));
    return [...new Set(letters)].filter((name) => /^\p{L}{3,}$/u.test(name));
  });
}
