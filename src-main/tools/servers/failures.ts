import { KvasirError } from '../../../src-shared/errors.ts';
import { messageOf } from '../../platform/failure.ts';
import type { ServerConfig } from './config.ts';
import { signInError } from './sign-in.ts';

/** Circumstances of an error. */
export interface ServerContext {
  name: string;
  config: ServerConfig;
  /** The last lines that its program wrote to stderr; empty if there are none. */
  stderr: string;
}

const MOST_DETAIL = 1000;

/** Converts an error of a connection, when it is opened or used. */
export function serverError(error: unknown, server: ServerContext): KvasirError {
  if (error instanceof KvasirError) return error;
  return 'command' in server.config ? programError(error, server) : addressError(error, server);
}

/** `seconds`: the limit. */
export function slowError(server: ServerContext, seconds: number): KvasirError {
  return new KvasirError(
    'MCP_SLOW',
    `${server.name} did not start within ${seconds} s.${stderrOf(server)}`,
    'Try again: some programs download packages when they first start.',
  );
}

/** Its program ended. */
export function exitError(server: ServerContext): KvasirError {
  return new KvasirError(
    'MCP_EXITED',
    `The program of ${server.name} ended.${stderrOf(server)}`,
    'Run its command in a terminal to see why. Kvasir starts it again on next use.',
  );
}

function programError(error: unknown, server: ServerContext): KvasirError {
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR')
    return new KvasirError(
      'MCP_COMMAND',
      `The program of ${server.name} cannot be started: ${path ?? message} was not found, or is not executable (${code}).`,
      'Install it, or give its full path. Its working directory has to exist, too.',
      { cause: error },
    );
  // The SDK's code for a connection that closed.
  return Number(code) === -32000 ? exitError(server) : protocolError(error, server);
}

function addressError(error: unknown, server: ServerContext): KvasirError {
  const { code, cause, message } = error as {
    code?: unknown;
    cause?: NodeJS.ErrnoException;
    message?: string;
  };
  if (code === 401 || code === 403)
    return signInError(server.name, `it requires a key or a sign-in (HTTP ${code})`);
  if (!message?.includes('fetch failed')) return protocolError(error, server);
  const why = cause?.code ?? messageOf(cause ?? error);
  return new KvasirError(
    'MCP_UNREACHABLE',
    `${server.name} cannot be reached (${scrub(why, server)}).`,
    'Check its address, and whether it runs.',
    { cause: error },
  );
}

function protocolError(error: unknown, server: ServerContext): KvasirError {
  return new KvasirError(
    'MCP_PROTOCOL',
    `${server.name} does not respond as MCP requires: ${scrub(messageOf(error), server)}`,
    'Check that it is an MCP server, and update it.',
    { cause: error },
  );
}

function stderrOf(server: ServerContext): string {
  const text = server.stderr.trim();
  return text === '' ? '' : ` It wrote: ${scrub(text, server)}`;
}

/** A text of the server without the secrets that it got. */
export function scrub(text: string, { config }: Pick<ServerContext, 'config'>): string {
  const secrets = Object.values('command' in config ? config.env : config.headers)
    .flatMap((value) => [value, ...value.split(/\s+/)]) // "Bearer KEY"
    .filter((value) => value.length >= 8)
    .sort((a, b) => b.length - a.length);
  const shown = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  return shown.length <= MOST_DETAIL ? shown : `…${shown.slice(-MOST_DETAIL)}`;
}
