import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KvasirError } from '../../../src-shared/errors.ts';
import { appRoot } from '../../platform/root.ts';

const LIMIT_MS = 20_000;

/**
 * URL of the registry that packages are downloaded from, ending in a slash: npm's own setting, as for setup. A packaged
 * app may have no npm, so it uses the registry of the machine it was packaged on (tools/dist/dist.ts).
 * npm_config_registry overrides both. DOWNLOAD_FAILED.
 */
export async function packageRegistry(env = process.env, root = appRoot()): Promise<string> {
  const told = addressIn(env['npm_config_registry']) ?? addressIn(packedWith(root));
  return told ?? addressIn(await askNpm(root)) ?? notKnown();
}

/** The registry that npm is set to; empty if there is no npm. */
export async function askNpm(cwd: string): Promise<string> {
  try {
    // npm is a .cmd file on Windows, which only a shell can start.
    const options = { cwd, shell: process.platform === 'win32', timeout: LIMIT_MS };
    return (await promisify(execFile)('npm', ['config', 'get', 'registry'], options)).stdout;
  } catch {
    return '';
  }
}

/** The URL without any user name and password. */
export function addressIn(text: string | undefined): string | undefined {
  const url = URL.parse(text?.trim() ?? '');
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.origin}${url.pathname.replace(/\/*$/, '/')}`;
}

function packedWith(root: string): string | undefined {
  const { registry } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { registry?: string };
  return registry;
}

function notKnown(): never {
  throw new KvasirError(
    'DOWNLOAD_FAILED',
    'The package registry is unknown because npm was not found.',
    'Install npm, or set npm_config_registry to the URL of a registry, and restart Kvasir.',
  );
}

export function packageAddress(registry: string, name: string, version: string): string {
  return `${registry}${name}/-/${name.split('/').at(-1) ?? ''}-${version}.tgz`;
}
