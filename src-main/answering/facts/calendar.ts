/** Languages whose names of months and weekdays are known. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'fi', 'ru'];

/** Month names in lower case, and their numbers from 1. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 12 }, (_, month) => month).flatMap((month) =>
    names('month', new Date(Date.UTC(2001, month, 15))).map((name) => [name, month + 1] as const),
  ),
);

/** Longest first, for a pattern. */
export const MONTH_NAMES = [...MONTHS.keys()].sort((a, b) => b.length - a.length);

/** Weekday names in lower case. */
export const WEEKDAYS: ReadonlySet<string> = new Set(
  Array.from({ length: 7 }, (_, day) => names('weekday', new Date(Date.UTC(2001, 0, 1 + day)))).flat(),
);

function names(part: 'month' | 'weekday', date: Date): string[] {
  const forms = LANGUAGES.flatMap((language) =>
    (['long', 'short'] as const).flatMap((style) => {
      // Next to a day the month is in the genitive, where the language has one.
      const options: Intl.DateTimeFormatOptions[] = [{ [part]: style }, { [part]: style, day: 'numeric' }];
      return options.map(
        (each) =>
          new Intl.DateTimeFormat(language, { ...each, timeZone: 'UTC' })
            .formatToParts(date)
            .find(({ type }) => type === part)?.value,
      );
    }),
  );
  const letters = forms.map((name) => (name ?? '').toLowerCase().replace(/\.$/u, ''));
  return [...new Set(letters)].filter((name) => /^\p{L}{3,}$/u.test(name));
}
