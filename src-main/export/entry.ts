export interface ExportEntry {
  /** Relative, with forward slashes; valid on every system, and used once. */
  name: string;
  content: string | Iterable<string> | AsyncIterable<Buffer>;
  /** Whether it is worth compressing. */
  isText: boolean;
}

export function textEntry(name: string, content: string | Iterable<string>): ExportEntry {
  return { name, content, isText: true };
}

export function jsonEntry(name: string, value: unknown): ExportEntry {
  return textEntry(name, `${JSON.stringify(value, null, 2)}\n`);
}
