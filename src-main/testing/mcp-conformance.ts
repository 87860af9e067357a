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

/** Runs it against a server; rejects if another scenario fails, or if one of `failing` passes. Returns its report. */
export async function conformance(url: string, failing: readonly string[]): Promise<string> {
  const suite = join(appRoot(), 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-conformance-'));
  try {
    const baseline = join(dir, 'failing.yml');
    writeFileSync(baseline, ['server:', ...failing.map((name) => `  - ${name}`), ''].join('\n'));
    const args = [suite, 'server', '--url', url, '--expected-failures', baseline];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dir });
    return stdout;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
