/** Larger files are not lists of questions. */
const LARGEST_FILE = 4_000_000;

/** Non-empty lines without list markers. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:[-*•]|\d{1,3}[.)])\s+/u, '').trim())
    .filter((line) => line !== '');
}

/** The questions in a file; undefined if it is not text. */
export async function readQuestions(file: Pick<File, 'size' | 'arrayBuffer'>): Promise<string[] | undefined> {
  if (file.size > LARGEST_FILE) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? undefined : linesOf(text);
  } catch {
    return undefined;
  }
}
