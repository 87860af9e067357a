import type { z } from 'zod';

/** Stored JSON parsed with its schema; `otherwise` if it is absent, not JSON, or in another version's format. */
export function parseOr<T>(schema: z.ZodType<T>, json: string | null | undefined, otherwise: T): T {
  if (typeof json !== 'string') return otherwise;
  try {
    return schema.catch(otherwise).parse(JSON.parse(json));
  } catch {
    return otherwise;
  }
}
