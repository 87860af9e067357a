/** `words` say which page it is, where its label is a number; a label that is a name says so itself: "Airports". */
export function pageWords(label: string, words: (page: string) => string): string {
  return /^(?:[\d.,–-]+|[ivxlcdm]+)$/.test(label) ? words(label) : label;
}
