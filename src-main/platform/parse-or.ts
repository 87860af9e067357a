import type { z } from 'zod';

/** Stored JSON as its schema has it; `otherwise` for what is absent, no JSON, or written differently by another version. */
export function parseOr<T>(schema: z.ZodType<T>, json: string | null | undefined, otherwise: T): T {
  if (typeof json !== 'string') return otherwise;
  try {
    return schema.catch(otherwise).parse(JSON.parse(json));
  } catch {
    return otherwise;
  }
}
