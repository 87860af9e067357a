/** MCP's official conformance suite. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { appRoot } from '../platform/root.ts';

/** Scenarios in which the server sends requests to the client: ours sends none. */
export const ASKS_CLIENT: readonly string[] = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

/**
 * What the suite asks of clients and Kvasir's does not do: fill in a server's form; be known by a document on the web,
 * or by an id or key that was agreed on before.
 */
const NOT_OFFERED: readonly string[] = [
  'elicitation-sep1034-client-defaults',
  'auth/basic-cimd',
  'auth/pre-registration',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/cross-app-access-complete-flow',
];

/** Runs it against a server; rejects if another scenario fails, or if one of `failing` passes. Returns its report. */
export function conformance(url: string, failing: readonly string[]): Promise<string> {
  return runSuite('server', ['--url', url], failing);
}

/** Runs it against a client: a command, to which it adds a server's address. The same otherwise. */
export function clientConformance(command: string, failing = NOT_OFFERED): Promise<string> {
  return runSuite('client', ['--command', command, '--suite', 'all'], failing);
}

async function runSuite(
  kind: 'server' | 'client',
  options: readonly string[],
  failing: readonly string[],
): Promise<string> {
  const suite = join(appRoot(), 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-conformance-'));
  try {
    const baseline = join(dir, 'failing.yml');
    writeFileSync(baseline, [`${kind}:`, ...failing.map((name) => `  - ${name}`), ''].join('\n'));
    const args = [suite, kind, ...options, '--expected-failures', baseline];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dir });
    return stdout;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
