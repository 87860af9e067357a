import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { applyEdits, modify, type JSONPath } from 'jsonc-parser';
import { KvasirError } from '../../../src-shared/errors.ts';
import { fileError } from '../../platform/paths.ts';
import { replaceFile } from '../../platform/replace-file.ts';
import { configError, parseEntries, parseServer, type ServerEntries } from './config.ts';

const FORMAT = { formattingOptions: { tabSize: 2, insertSpaces: true } };

/** mcp.json, which people and other programs edit too: all that Kvasir does not know is kept, comments included. */
export class ConfigFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Its content now, without servers if there is no file. MCP_CONFIG: it is unusable, and says where. */
  read(): ServerEntries {
    return parseEntries(this.#text(), basename(this.path));
  }

  /** Adds servers. CONFLICT: a name is taken; MCP_CONFIG, STORE_READ_ONLY, DISK_FULL. */
  add(added: Readonly<Record<string, unknown>>): void {
    const { entries } = this.read();
    for (const name of Object.keys(added))
      if (Object.hasOwn(entries, name))
        throw new KvasirError(
          'CONFLICT',
          `There is already a server named ${name}.`,
          'Choose another name, or remove that server first.',
        );
    this.#change(Object.entries(added).map(([name, entry]) => [[name], entry]));
  }

  /** NOT_FOUND, MCP_CONFIG, STORE_READ_ONLY, DISK_FULL. */
  remove(name: string): void {
    this.#requireServer(name);
    this.#change([[[name], undefined]]);
  }

  /** By the field `disabled`, as Cline and Windsurf do. Errors as `remove`. */
  enable(name: string, enabled: boolean): void {
    this.#requireServer(name);
    parseServer(this.read().entries[name], name);
    this.#change([[[name, 'disabled'], enabled ? undefined : true]]);
  }

  #requireServer(name: string): void {
    if (Object.hasOwn(this.read().entries, name)) return;
    throw new KvasirError('NOT_FOUND', `There is no server named ${name} in ${basename(this.path)}.`);
  }

  #change(changes: readonly [JSONPath, unknown][]): void {
    const { path } = this.read();
    let text = this.#text();
    for (const [below, value] of changes)
      text = applyEdits(text, modify(text, [...path, ...below], value, FORMAT));
    try {
      replaceFile(this.#target(), text.endsWith('\n') ? text : `${text}\n`);
    } catch (error) {
      throw fileError(error, `${this.path} could not be written`);
    }
  }

  #text(): string {
    try {
      const text = readFileSync(this.path, 'utf8');
      return text.trim() === '' ? '{}' : text;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return '{}';
      throw configError(`${basename(this.path)} cannot be read (${code}).`);
    }
  }

  /** It may be a link to another program's file. */
  #target(): string {
    try {
      return realpathSync(this.path);
    } catch {
      return this.path;
    }
  }
}
