import { z } from 'zod';

/** A remote model, as entered by the user. */
export const AddedServerSchema = z.object({
  /** http(s)://host:port/v1; scheme and path are optional. */
  address: z.string().trim().min(1).max(2000),
  /** The server's name for it. */
  model: z.string().trim().min(1).max(500),
  /** '': none, or keep the existing one. Stored separately, and sent only to the server. */
  key: z.string().trim().max(4096).default(''),
  /**
   * Separator at which LMCache splits prompts (LMCACHE_BLEND_SPECIAL_STR); spaces in it count. '': passages are
   * separated by a blank line.
   */
  separator: z.string().max(100).default(''),
  /** Context length of the server in tokens; null: unknown, the settings' context applies. */
  contextTokens: z.int().min(256).max(4_194_304).nullable().default(null),
  /** Timeout for the first token, and between two tokens, in seconds. */
  waitSeconds: z.int().min(1).max(280).default(120),
});

export const AskedServerSchema = AddedServerSchema.pick({ address: true, key: true });

export const ListedServerSchema = z.object({
  /** Normalised. */
  address: z.string(),
  models: z.array(z.object({ id: z.string(), contextTokens: z.int().nullable() })),
});

/** Facts about a remote model in the list. */
export const ServerFactsSchema = z.object({
  address: z.string(),
  host: z.string(),
  model: z.string(),
  /** Where questions and passages are sent: this machine, a local network, or the internet. */
  reach: z.enum(['here', 'network', 'internet']),
  /** Whether the connection is encrypted. */
  secure: z.boolean(),
  key: z.enum(['none', 'keyring', 'file']),
  separator: z.string(),
  contextTokens: z.int().nullable(),
  waitSeconds: z.number(),
  /** Most recent time to first token since the start; null: not used yet. */
  ttftMs: z.number().nullable(),
  /** From its own token count; null: unknown. */
  tokensPerSecond: z.number().nullable(),
});

export type AddedServer = z.output<typeof AddedServerSchema>;
export type ListedServer = z.infer<typeof ListedServerSchema>;
export type ServerFacts = z.infer<typeof ServerFactsSchema>;
