import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';

/** Maximum characters of a line; longer texts are split. */
const MAX_LINE = 1024 * 1024;
/** Characters of a text in one line: escaped, each may take six. */
const TEXT_PART = 64 * 1024;

const TextSchema = z.string().max(TEXT_PART);
const ScreenSchema = z.object({ isTTY: z.boolean(), columns: z.int().min(1).max(100_000).optional() });

const CommandStartSchema = z.object({
  type: z.literal('start'),
  token: z.string().max(100),
  /** As the guest's own process received it. */
  argv: z.array(z.string()),
  /** The guest's working folder: paths in `argv` are relative to it. */
  cwd: z.string(),
  stdin: z.object({ isTTY: z.boolean() }),
  stdout: ScreenSchema,
  stderr: ScreenSchema,
  /** Whether its stdout shows colours. */
  color: z.boolean(),
  /** Whether windows opened on this machine are visible to the user. */
  display: z.boolean(),
});

export type CommandStart = z.infer<typeof CommandStartSchema>;

/** Messages from a guest. */
export const GuestMessageSchema = z.discriminatedUnion('type', [
  CommandStartSchema,
  /** Data from stdin, and its end. */
  z.object({ type: z.literal('input'), text: TextSchema }),
  z.object({ type: z.literal('input-end') }),
  /** The first Ctrl-C. */
  z.object({ type: z.literal('stop') }),
]);

/** Messages from the host. */
export const HostMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('accepted') }),
  z.object({ type: z.literal('out'), text: TextSchema }),
  z.object({ type: z.literal('err'), text: TextSchema }),
  /** The command reads stdin from now on. */
  z.object({ type: z.literal('read') }),
  z.object({ type: z.literal('exit'), code: z.int().min(0).max(255) }),
]);

export type GuestMessage = z.infer<typeof GuestMessageSchema>;
export type HostMessage = z.infer<typeof HostMessageSchema>;

export function send(socket: Socket, message: GuestMessage | HostMessage): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls back for each incoming message: JSON, one per line. Invalid input closes the connection. */
export function receive<T>(socket: Socket, schema: z.ZodType<T>, onMessage: (message: T) => void): void {
  const decoder = new StringDecoder('utf8');
  let begun = '';
  socket.on('data', (data: Buffer) => {
    const lines = (begun + decoder.write(data)).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) {
      const message = parse(line, schema);
      if (message === undefined) return void socket.destroy();
      if (!socket.destroyed) onMessage(message);
    }
    if (begun.length > MAX_LINE) socket.destroy();
  });
}

/** A text in parts of at most TEXT_PART characters; surrogate pairs stay together. */
export function parts(text: string): string[] {
  return text.match(/.{1,32768}/gsu) ?? [];
}

function parse<T>(line: string, schema: z.ZodType<T>): T | undefined {
  if (line.length > MAX_LINE) return undefined;
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
