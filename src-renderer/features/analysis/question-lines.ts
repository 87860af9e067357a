/** More than this is no list of questions. */
const LARGEST_FILE = 4_000_000;

/** Lines with something on them; the marks of a list before a question are no part of it. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:[-*•]|\d{1,3}[.)])\s+/u, '').trim())
    .filter((line) => line !== '');
}

/** The questions of a file; undefined when it is no text. */
export async function readQuestions(file: Pick<File, 'size' | 'arrayBuffer'>): Promise<string[] | undefined> {
  if (file.size > LARGEST_FILE) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? undefined : linesOf(text);
  } catch {
    return undefined;
  }
}
