import { z } from 'zod';

/** Whether a text is an address with a name or a password in it, which would be kept, shown and logged in clear. */
export function hasCredentials(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:[/\\]{2}[^/\\?#]*@/i.test(text);
}

/** An http or https address that may be kept. */
export const WebAddressSchema = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((text) => !hasCredentials(text), {
    error: 'a name or password in an address would be kept and shown: leave it out',
  });
