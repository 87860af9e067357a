/** Languages whose names of months and weekdays are known. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'fi', 'ru'];

interface Calendar {
  /** Month names in lower case, and their numbers from 1. */
  months: ReadonlyMap<string, number>;
  /** Weekday names in lower case. */
  weekdays: ReadonlySet<string>;
}

let known: Calendar | undefined;

/** Made when a text is first checked: it takes dozens of formats, and most commands check none. */
export function calendar(): Calendar {
  if (known) return known;
  const days = Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2001, 0, 1 + day)));
  const midMonths = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2001, month, 15)));
  const months = namesIn('month', midMonths).flatMap((names, month) =>
    names.map((name) => [name, month + 1] as const),
  );
  known = { months: new Map(months), weekdays: new Set(namesIn('weekday', days).flat()) };
  return known;
}

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
