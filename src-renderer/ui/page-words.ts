/** A page's label with a word for "page" if the label is a number; a label that is a name stays as it is: "Airports". */
export function pageWords(label: string, words: (page: string) => string): string {
  return /^(?:[\d.,–-]+|[ivxlcdm]+)$/.test(label) ? words(label) : label;
}
