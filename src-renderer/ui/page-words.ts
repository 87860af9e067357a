/** A page's label with a word for "page" if the label is a number; a label that is a name stays as it is: "Airports". Both may be marked as recognised. */
export function pageWords(label: string, words: (page: string) => string): string {
  const [, number, mark = ''] = /^([\d.,–-]+|[ivxlcdm]+)( \(OCR\))?$/.exec(label) ?? [];
  return number === undefined ? label : words(number) + mark;
}
