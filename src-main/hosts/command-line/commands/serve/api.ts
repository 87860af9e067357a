import type { Command } from 'commander';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { readKeys } from '../../../http/api/keys.ts';
import type { CommandContext } from '../../context.ts';
import { path } from '../../options.ts';
import { useModel } from '../../use-model.ts';

export interface ApiFlags {
  port: number;
  host?: string;
  apiKey?: string[];
  apiKeyFile?: string;
  tlsCert?: string;
  tlsKey?: string;
  cors?: string[];
  allowHost?: string[];
  chunkSeparator?: string;
  model?: string;
}

/** Flags that require --api. */
const FLAGS = {
  host: '--host',
  apiKey: '--api-key',
  apiKeyFile: '--api-key-file',
  tlsCert: '--tls-cert',
  tlsKey: '--tls-key',
  cors: '--cors',
  allowHost: '--allow-host',
  chunkSeparator: '--chunk-separator',
  model: '--model',
} as const satisfies Partial<Record<keyof ApiFlags, string>>;

export function addApiFlags(command: Command, context: CommandContext): void {
  command
    .option('--host <address>', 'with --api: address to listen on (default: 127.0.0.1)')
    .option('--api-key-file <file>', 'with --api: file with one API key per line', path(context))
    .option('--api-key <key...>', 'with --api: one API key; other users of this machine may see it')
    .option('--tls-cert <file>', 'with --api: certificate (PEM), for https', path(context))
    .option('--tls-key <file>', 'with --api: its key (PEM)', path(context))
    .option('--cors <origin...>', 'with --api: allow pages of this origin; * for all')
    .option(
      '--allow-host <name...>',
      'with --api: also accept requests to this host name, such as host.docker.internal',
    )
    .option(
      '--chunk-separator <text>',
      'with --api: separator that splits text into chunks to store and blend',
    )
    .option('--model <model>', 'with --api: model to answer with from now on, by its name or its GGUF file');
}

/** BAD_ARGUMENT for API flags without --api. */
export function requireApi(flags: ApiFlags): void {
  const given = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  throw new KvasirError(
    'BAD_ARGUMENT',
    `${FLAGS[given]} is only for the API.`,
    'Add --api, or leave it out.',
  );
}

/** Serves other programs until stopped. BAD_ARGUMENT, and errors of App.open(). */
export async function serveApi(
  flags: ApiFlags,
  { terminal, signal, cwd, withClient }: CommandContext,
): Promise<void> {
  const { host = '127.0.0.1', port, chunkSeparator: separator, cors: origins = [], allowHost = [] } = flags;
  const keys = [
    ...(flags.apiKey ?? []),
    ...(flags.apiKeyFile === undefined ? [] : readKeys(flags.apiKeyFile)),
  ];
  if (keys.some((key) => key.trim() === ''))
    throw new KvasirError('BAD_ARGUMENT', '--api-key is empty.', 'Pass a key, or leave the flag out.');
  const tls = tlsOf(flags);
  if (separator === '') throw new KvasirError('BAD_ARGUMENT', '--chunk-separator is empty.', 'Name a text.');
  const hostNames = allowHost.map(requireHostName);
  await withClient(undefined, async (client) => {
    if (flags.model !== undefined) await useModel(flags.model, cwd, client);
    const options = { host, port, keys, tls, origins, hostNames, separator };
    const { address } = await client.call('command.api', options);
    terminal.out(
      `Kvasir serves OpenAI's API at this address${keys.length > 0 ? ', for whoever has a key' : ''}:\n`,
    );
    terminal.out(`\n${address}/v1\n\nAnd MCP at this one:\n`);
    terminal.out(`\n${address}/mcp\n\nPrograms for Ollama take this one:\n`);
    terminal.out(`\n${address}\n\nCtrl-C to stop.\n`);
    await stopped(signal);
  });
}

/** BAD_ARGUMENT for an address, or a name with a port. */
function requireHostName(name: string): string {
  if (/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(name)) return name;
  const message = `${JSON.stringify(name)} is not a host name.`;
  throw new KvasirError('BAD_ARGUMENT', message, 'Leave out scheme, port and path: --allow-host aibox');
}

function tlsOf({ tlsCert: cert, tlsKey: key }: ApiFlags): { cert: string; key: string } | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  const missing = cert === undefined ? '--tls-cert' : '--tls-key';
  throw new KvasirError('BAD_ARGUMENT', `${missing} is missing.`, 'A certificate and its key go together.');
}

export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
