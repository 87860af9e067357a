import { z } from 'zod';

/** Whether a URL contains a user name or password, which would be stored, displayed and logged in plain text. */
export function hasCredentials(text: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:[/\\]{2}[^/\\?#]*@/i.test(text);
}

/** An http or https URL without credentials. */
export const WebAddressSchema = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((text) => !hasCredentials(text), {
    error: 'the address must not contain a user name or password',
  });
