import { createHash } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { z } from 'zod';
import type { Logger } from '../../platform/logger.ts';
import { fileError } from '../../platform/paths.ts';
import { replaceFile } from '../../platform/replace-file.ts';
import type { ServerConfig } from './config.ts';

/** docs/formats/mcp-permissions.md */
const FileSchema = z.object({
  version: z.literal(1),
  /** Fingerprints by server and tool. */
  allowed: z.record(z.string(), z.record(z.string(), z.string())),
});

type Allowed = z.infer<typeof FileSchema>['allowed'];

/** What a server says about a tool, as far as a person relied on it when allowing it. */
interface ToolFacts {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}

/** Which tools of MCP servers run without asking, each for as long as it and its server stay what they were. */
export class Permissions {
  readonly #path: string;
  #allowed: Allowed;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#allowed = load(path, log);
  }

  /** 'changed': it was allowed, but the server's command or the tool is another now, so it asks. */
  of(server: string, config: ServerConfig, tool: ToolFacts): 'asks' | 'allowed' | 'changed' {
    const allowed = this.#entry(server)[tool.name];
    if (allowed === undefined) return 'asks';
    return allowed === fingerprint(config, tool) ? 'allowed' : 'changed';
  }

  /** STORE_READ_ONLY, DISK_FULL. */
  set(server: string, config: ServerConfig, tool: ToolFacts, allowed: boolean): void {
    const others = Object.entries(this.#entry(server)).filter(([name]) => name !== tool.name);
    const entries = allowed ? [...others, [tool.name, fingerprint(config, tool)] as const] : others;
    this.#write(server, entries);
  }

  /** Forgets a server. STORE_READ_ONLY, DISK_FULL. */
  forget(server: string): void {
    if (Object.hasOwn(this.#allowed, server)) this.#write(server, []);
  }

  #entry(server: string): Record<string, string> {
    return Object.hasOwn(this.#allowed, server) ? (this.#allowed[server] ?? {}) : {};
  }

  #write(server: string, entries: readonly (readonly [string, string])[]): void {
    const others = Object.entries(this.#allowed).filter(([name]) => name !== server);
    const all = entries.length === 0 ? others : [...others, [server, Object.fromEntries(entries)] as const];
    const allowed = Object.fromEntries(all);
    try {
      replaceFile(this.#path, `${JSON.stringify({ version: 1, allowed }, null, 2)}\n`);
    } catch (error) {
      throw fileError(error, `${this.#path} could not be written`);
    }
    this.#allowed = allowed;
  }
}

/** A damaged file is set aside: every tool asks again. */
function load(path: string, log: Logger): Allowed {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).allowed;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    log.error('mcp-permissions-damaged', { path });
    renameSync(path, `${path}.corrupt-${Date.now()}`);
    return {};
  }
}

/** Not of the environment and the headers: a new key is no new program. */
function fingerprint(config: ServerConfig, { name, description, inputSchema }: ToolFacts): string {
  const launch = 'command' in config ? [config.command, config.args, config.cwd] : [config.url];
  return createHash('sha256')
    .update(JSON.stringify([launch, name, description, inputSchema]))
    .digest('hex');
}
