import { homedir } from 'node:os';
import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import { firstIssue } from '../../../src-shared/settings.ts';

/** Other programs write numbers and booleans too. */
const ValuesSchema = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .default({});

const CommandSchema = z.object({
  command: z.string().trim().min(1),
  args: z.array(z.string()).default([]),
  env: ValuesSchema,
  cwd: z.string().optional(),
});

const UrlSchema = z.object({
  url: z.string().regex(/^(https?:\/\/|\$\{)/i, { error: 'not an http(s) address' }),
  headers: ValuesSchema,
  type: z.string().optional(),
});

/** A program that Kvasir starts, and talks to by stdin and stdout. */
export type CommandConfig = z.output<typeof CommandSchema>;
/** A server at an address. */
export type UrlConfig = z.output<typeof UrlSchema>;
export type ServerConfig = CommandConfig | UrlConfig;

/** The servers of a text, and the path to them in it. */
export interface ServerEntries {
  path: string[];
  entries: Readonly<Record<string, unknown>>;
}

const CONFIG_ADVICE = 'Correct it; docs/mcp-servers.md shows the form.';

export function configError(message: string): KvasirError {
  return new KvasirError('MCP_CONFIG', message, CONFIG_ADVICE);
}

/**
 * Finds the servers of a text in the form of mcp.json: `mcpServers`, VS Code's `servers` (in its settings below `mcp`),
 * or the servers alone. Comments and trailing commas are allowed. `what` names the text in errors. MCP_CONFIG.
 */
export function parseEntries(text: string, what: string): ServerEntries {
  const errors: ParseError[] = [];
  const root: unknown = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) throw configError(`${what}, ${placeOf(text, error)}: ${wordsOf(error)}.`);
  if (!isObject(root)) throw configError(`${what} is not a JSON object.`);
  for (const path of [['mcpServers'], ['servers'], ['mcp', 'servers']]) {
    const entries = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root);
    if (isObject(entries)) return { path, entries };
    if (entries !== undefined) throw configError(`${what}: ${path.join('.')} is not an object.`);
  }
  const areServers = Object.values(root).some((entry) => isObject(entry) && isServer(entry));
  return areServers ? { path: [], entries: root } : { path: ['mcpServers'], entries: {} };
}

/** One server's entry. `where` names it in errors, which never contain its values. MCP_CONFIG. */
export function parseServer(entry: unknown, where: string): ServerConfig {
  if (!isObject(entry) || !isServer(entry)) throw configError(`${where} has neither "command" nor "url".`);
  // Windsurf and Gemini CLI name the address otherwise.
  const { serverUrl, httpUrl, url = serverUrl ?? httpUrl } = entry;
  const result = 'command' in entry ? CommandSchema.safeParse(entry) : UrlSchema.safeParse({ ...entry, url });
  if (!result.success) throw configError(`${where}: ${firstIssue(result.error)}.`);
  return result.data;
}

/**
 * Replaces ${NAME}, ${NAME:-default}, ${env:NAME} and ${userHome}, as Claude Code and VS Code do. MCP_CONFIG for what
 * only another program can fill in, such as ${input:key}.
 */
export function expand(
  text: string,
  where: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (_, inner: string) => {
    if (inner === 'userHome') return homedir();
    const [, name, otherwise] = /^(?:env:)?(\w+)(?::-(.*))?$/s.exec(inner) ?? [];
    const value = (name === undefined ? undefined : env[name]) ?? otherwise;
    if (value !== undefined) return value;
    if (name === undefined) throw configError(`${where} contains \${${inner}}, which Kvasir cannot replace.`);
    throw configError(`${where} contains \${${inner}}, but that environment variable is not set.`);
  });
}

function isServer(entry: Record<string, unknown>): boolean {
  return ['command', 'url', 'serverUrl', 'httpUrl'].some((key) => key in entry);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function placeOf(text: string, { offset }: ParseError): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** 'CommaExpected' as "comma expected". */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
}
