/** MCP's official conformance suite. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
export const NOT_OFFERED: readonly string[] = [
  'elicitation-sep1034-client-defaults',
  'auth/basic-cimd',
  'auth/pre-registration',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/cross-app-access-complete-flow',
];

/** What became of one scenario: how many of its checks passed, failed, or gave a warning. */
export interface Outcome {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
  readonly warnings: number;
}

/** Runs the suite against a server. */
export function serverConformance(url: string): Promise<readonly Outcome[]> {
  return runSuite(['server', '--url', url]);
}

/** Runs the suite against a client: a command, to which it adds a server's address. */
export function clientConformance(command: string): Promise<readonly Outcome[]> {
  return runSuite(['client', '--command', command, '--suite', 'all']);
}

/** The scenarios with a check that failed or gave a warning, or with no check at all, in alphabetical order. */
export function failing(outcomes: readonly Outcome[]): readonly string[] {
  const fails = ({ passed, failed, warnings }: Outcome): boolean => failed + warnings > 0 || passed === 0;
  return outcomes.flatMap((outcome) => (fails(outcome) ? [outcome.scenario] : [])).sort();
}

/** Rejects if the suite ends without an outcome. That scenarios failed is none: callers know which may. */
async function runSuite(options: readonly string[]): Promise<readonly Outcome[]> {
  const suite = join(appRoot(), 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  const output = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, [suite, ...options], { cwd: tmpdir() }, (error, stdout, stderr) => {
      if (stdout.includes('SUMMARY ===')) resolve(stdout);
      else reject(new Error(`the suite ended without a summary: ${stdout}${stderr}`, { cause: error }));
    }),
  );
  return Array.from(output.matchAll(SUMMARY_LINE), ([, scenario = '', passed, failed, warnings = 0]) => ({
    scenario,
    passed: Number(passed),
    failed: Number(failed),
    warnings: Number(warnings),
  }));
}

/** As `✗ sse-retry: 2 passed, 0 failed, 1 warnings`. */
const SUMMARY_LINE = /^[✓✗] (\S+): (\d+) passed, (\d+) failed(?:, (\d+) warnings)?$/gm;
