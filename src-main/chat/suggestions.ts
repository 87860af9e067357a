import { readFileSync } from 'node:fs';
import { z } from 'zod';

const FileSchema = z.object({ questions: z.array(z.string().min(1)) });

/** Questions to begin with, from a file that is shipped; none when it is not there. */
export function readSuggestions(path: string): string[] {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).questions;
  } catch {
    return [];
  }
}
