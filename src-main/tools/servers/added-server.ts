import type { AddedToolServer } from '../../../src-shared/contract/tools.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CommandConfig } from './config.ts';

/** The entry of mcp.json for a server as typed. BAD_ARGUMENT. */
export function addedServer({ kind, target, secrets }: AddedToolServer): Record<string, unknown> {
  if (kind === 'command') {
    const [command, ...args] = splitCommand(target);
    const env = pairs(secrets, '=', /^[A-Za-z_]\w*$/, 'NAME=value');
    return { command, ...(args.length > 0 && { args }), ...(env && { env }) };
  }
  const url = URL.parse(target);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new KvasirError('BAD_ARGUMENT', 'The address must begin with http:// or https://.', 'Correct it.');
  const headers = pairs(secrets, ':', /^[!#$%&'*+\-.^`|~\w]+$/, 'Name: value');
  return { type: 'http', url: target, ...(headers && { headers }) };
}

/**
 * A command line as a list: separated by spaces, except within single or double quotes. Backslashes stay, since paths
 * on Windows have them. BAD_ARGUMENT.
 */
export function splitCommand(line: string): string[] {
  const parts = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+|["']/g) ?? [];
  if (parts.some((part) => part === '"' || part === "'"))
    throw new KvasirError('BAD_ARGUMENT', 'A quote in the command is not closed.', 'Add the other one.');
  return parts.map((part) =>
    part.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a?: string, b?: string) => a ?? b ?? ''),
  );
}

/** The inverse, for people. */
export function commandLine({ command, args }: CommandConfig): string {
  return [command, ...args].map((part) => (/^[^\s"']+$/.test(part) ? part : quoted(part))).join(' ');
}

/** An address without what may be secret in it. */
export function shownUrl(address: string): string {
  const url = URL.parse(address);
  return url ? `${url.origin}${url.pathname}` : address.replace(/[?#].*/s, '');
}

function quoted(part: string): string {
  return part.includes('"') ? `'${part}'` : `"${part}"`;
}

/** Errors name the line by its number: it may contain a key. */
function pairs(
  lines: string,
  separator: string,
  name: RegExp,
  form: string,
): Record<string, string> | undefined {
  const found = lines.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const at = line.indexOf(separator);
    const key = line.slice(0, Math.max(at, 0)).trim();
    if (!name.test(key))
      throw new KvasirError('BAD_ARGUMENT', `Line ${index + 1} is not of the form ${form}.`, 'Correct it.');
    return [[key, line.slice(at + 1).trim()] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
