/** MCP's official conformance suite: all of it for our transport, and for the real server what its capabilities cover. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../src-main/hosts/http/app.ts';
import { listen, LOCAL_NAMES } from '../src-main/hosts/http/listener.ts';
import { mcpOverHttp } from '../src-main/hosts/http/mcp.ts';
import { removeDir, ROOT, startCli, tempDir, waitForOutput } from './cli-support.ts';
import { fixtureServer } from './support/mcp-fixture.ts';

const SUITE = join(ROOT, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** Scenarios in which the server sends requests to the client: ours sends none. */
const ASKS_CLIENT = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

/** Scenarios for tools, resources and capabilities that only the suite's reference server has. */
const REFERENCE = [
  ...ASKS_CLIENT,
  'logging-set-level',
  'completion-complete',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** Runs the suite, which fails if any other scenario fails, or if one of these passes. Returns what it prints. */
async function conformance(url: string, failing: readonly string[]): Promise<string> {
  const dir = tempDir();
  onTestFinished(() => removeDir(dir));
  const baseline = join(dir, 'failing.yml');
  writeFileSync(baseline, ['server:', ...failing.map((name) => `  - ${name}`), ''].join('\n'));
  const args = [SUITE, 'server', '--url', url, '--expected-failures', baseline];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dir });
  return stdout;
}

test('our transport conforms, with a server that has the tools of the suite', async () => {
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const mcp = mcpOverHttp(fixtureServer);
  const app = createApp(
    {
      access: {
        hosts: () => LOCAL_NAMES,
        hostAdvice: '',
        origins: [],
        open: ['/mcp'],
        checkCredentials: () => undefined,
        maxBodyBytes: 1_000_000,
      },
      around: (_, next) => next(),
      respond: ({ body, status }, c) => c.json(body, status),
      add: (routes) => routes.on(['GET', 'POST', 'DELETE'], '/mcp', (c) => mcp(c.req.raw)),
    },
    log,
  );
  const listener = await listen({ fetch: app.fetch, host: '127.0.0.1', port: 0, advice: '' });
  onTestFinished(() => listener.close());
  expect(await conformance(`${listener.address}/mcp`, ASKS_CLIENT)).toMatch(/Total: \d+ passed, 4 failed/);
}, 60_000);

test('the real server conforms in what it offers', async () => {
  const data = tempDir();
  onTestFinished(() => removeDir(data));
  const running = startCli(['serve', '--api', '--data', data]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const [, url = ''] = await waitForOutput(running, /^(http\S+\/mcp)$/m);
  expect(await conformance(url, REFERENCE)).toMatch(/Total: \d+ passed, 22 failed/);
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(0);
}, 60_000);
