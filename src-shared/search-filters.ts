/** Filters as words of a question: `in:contracts kind:pdf after:2024-01-01 before:2025`. Anything else stays a word. */
export interface SearchFilters {
  /** Names of folders or libraries, in lower case; a document may be in any of them. Empty: everywhere. */
  folders: string[];
  /** Endings of file names, in lower case without the dot; empty: any kind. */
  kinds: string[];
  /** Modified at or after, and before this time [ms since 1970]; null: at any time. */
  afterMs: number | null;
  beforeMs: number | null;
}

export interface FilteredText {
  /** Without the filters. */
  text: string;
  /** null: the text has none. */
  filters: SearchFilters | null;
}

/** Kinds of documents that have several endings. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  word: ['doc', 'docx', 'docm', 'odt', 'rtf'],
  sheet: ['xls', 'xlsx', 'xlsm', 'xlsb', 'ods', 'csv', 'tsv'],
  slides: ['ppt', 'pptx', 'pptm', 'odp'],
  mail: ['eml', 'msg', 'mbox'],
  web: ['html', 'htm', 'xhtml', 'mhtml', 'mht'],
  image: ['png', 'jpg', 'jpeg', 'tif', 'tiff', 'bmp', 'gif', 'webp'],
  markdown: ['md', 'markdown'],
  text: ['txt', 'text', 'log'],
};

const FILTER = /(?<!\S)(in|kind|after|before):("[^"]+"|[^\s"]+)/giu;
const DATE = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/;
const ENDING = /^\.?([a-z0-9]{1,10})$/;

/** Separates a question from its filters. Folders and kinds add up; the last date of a kind counts. */
export function parseFilters(question: string): FilteredText {
  const filters: SearchFilters = { folders: [], kinds: [], afterMs: null, beforeMs: null };
  const text = question.replace(FILTER, (whole, name: string, quoted: string) => {
    const value = quoted.replaceAll('"', '').normalize('NFC').toLowerCase();
    return addTo(filters, name.toLowerCase(), value) ? '' : whole;
  });
  if (text === question) return { text, filters: null };
  return { text: text.replace(/[^\S\n]+/g, ' ').trim(), filters };
}

/** The question as a model should read it; one that consists of filters alone stays as it is. */
export function withoutFilters(question: string): string {
  const { text } = parseFilters(question);
  return text === '' ? question : text;
}

/** false: the value is none of this filter, so the word is not a filter. */
function addTo(filters: SearchFilters, name: string, value: string): boolean {
  if (name === 'in') {
    const folder = value.replace(/^[/\\]+|[/\\]+$/g, '').replaceAll('\\', '/');
    filters.folders.push(...(folder === '' ? [] : [folder]));
    return folder !== '';
  }
  if (name === 'kind') {
    const ending = ENDING.exec(value)?.[1];
    if (ending !== undefined) filters.kinds.push(...(KINDS[ending] ?? [ending]));
    return ending !== undefined;
  }
  const time = timeOf(value);
  if (time !== undefined) filters[name === 'after' ? 'afterMs' : 'beforeMs'] = time;
  return time !== undefined;
}

/** The beginning of a year, month or day in local time; undefined if there is none. */
function timeOf(value: string): number | undefined {
  const [, year, month = '1', day = '1'] = DATE.exec(value) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  const exists = date.getMonth() === Number(month) - 1 && date.getDate() === Number(day);
  return exists ? date.getTime() : undefined;
}
