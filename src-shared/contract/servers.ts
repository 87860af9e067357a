import { z } from 'zod';

/** A model on a server, as a person adds it. */
export const AddedServerSchema = z.object({
  /** http(s)://host:port/v1; scheme and path may be left out. */
  address: z.string().trim().min(1).max(2000),
  /** As the server's list calls it. */
  model: z.string().trim().min(1).max(500),
  /** '': none, or the one there is. Kept apart, and told to nobody but the server. */
  key: z.string().trim().max(4096).default(''),
  /** What LMCache cuts prompts at (LMCACHE_BLEND_SPECIAL_STR); blanks in it count. '': passages stand apart by a blank line. */
  separator: z.string().max(100).default(''),
  /** Tokens that the server takes in a request; null: unknown, and the settings' context holds. */
  contextTokens: z.int().min(256).max(4_194_304).nullable().default(null),
  /** Longest silence before the first token, and between two. */
  waitSeconds: z.int().min(1).max(280).default(120),
});

export const AskedServerSchema = AddedServerSchema.pick({ address: true, key: true });

export const ListedServerSchema = z.object({
  /** As it is used. */
  address: z.string(),
  models: z.array(z.object({ id: z.string(), contextTokens: z.int().nullable() })),
});

/** Of a model in the list that is on a server. */
export const ServerFactsSchema = z.object({
  address: z.string(),
  host: z.string(),
  model: z.string(),
  /** How far questions and passages go: not at all, into a local network, or beyond it. */
  reach: z.enum(['here', 'network', 'internet']),
  /** Whether the way there is encrypted. */
  secure: z.boolean(),
  /** Where its key is kept. */
  key: z.enum(['none', 'keyring', 'file']),
  separator: z.string(),
  contextTokens: z.int().nullable(),
  waitSeconds: z.number(),
  /** From the request to the first token, the last time since the start; null: not asked yet. */
  ttftMs: z.number().nullable(),
  /** By its own count; null: unknown. */
  tokensPerSecond: z.number().nullable(),
});

export type AddedServer = z.output<typeof AddedServerSchema>;
export type ListedServer = z.infer<typeof ListedServerSchema>;
export type ServerFacts = z.infer<typeof ServerFactsSchema>;
