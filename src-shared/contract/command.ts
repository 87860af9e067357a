import { z } from 'zod';
import type { SettingsInput } from '../settings.ts';
import { NothingSchema } from './common.ts';
import { procedure } from './define.ts';

const ProfileSchema = z.object({
  /** Path of a GGUF, or a model on a server: its name in the list, or address#model. */
  model: z.string().optional(),
  /** Path of a LoRA adapter. */
  adapter: z.string().optional(),
  settings: z.custom<Partial<SettingsInput>>((value) => value instanceof Object).optional(),
});

const ServedSchema = z.object({ address: z.string() });

/**
 * Procedures for commands: a window has none of them. What they open lasts until 'command.close' or the end of the
 * connection.
 */
export const commandContract = {
  /**
   * Gives the client its own model and settings; what is absent is as in the window, the model the demo model. Once, as
   * the first call.
   */
  'command.profile': procedure(ProfileSchema, NothingSchema),
  /**
   * Serves the window on a port (0: any free one) to a browser that opens the one-time address. Called again, gives
   * another address.
   */
  'command.window': procedure(z.object({ port: z.int() }), ServedSchema),
  /** Serves other programs. */
  'command.api': procedure(
    z.object({
      host: z.string(),
      /** 0: any free port. */
      port: z.int(),
      keys: z.array(z.string()),
      /** Files of a certificate and its key, in PEM. */
      tls: z.object({ cert: z.string(), key: z.string() }).optional(),
      origins: z.array(z.string()),
      hostNames: z.array(z.string()),
      separator: z.string().optional(),
    }),
    ServedSchema,
  ),
  /** Starts an MCP server, which gets messages by 'command.message' and sends them as events of that name. */
  'command.mcp': procedure(NothingSchema, NothingSchema),
  'command.message': procedure(z.object({ message: z.unknown() }), NothingSchema),
  /** Stops what this client began, and closes what it opened. */
  'command.close': procedure(NothingSchema, NothingSchema),
};

/** A client's own model and settings. */
export type ProfileInput = z.input<typeof ProfileSchema>;
