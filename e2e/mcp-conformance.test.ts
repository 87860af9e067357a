/** MCP's official conformance suite with the real server and client: what their capabilities cover. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ASKS_CLIENT, clientConformance, conformance } from '../src-main/testing/mcp-conformance.ts';
import { removeDir, startCli, tempDir, waitForOutput } from './cli-support.ts';

/** Scenarios for tools, resources and capabilities that only the suite's reference server has. */
const REFERENCE = [
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

test('the server conforms to the protocol in what it offers', async () => {
  const data = tempDir();
  onTestFinished(() => removeDir(data));
  const running = startCli(['serve', '--api', '--data', data]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const [, url = ''] = await waitForOutput(running, /^(http\S+\/mcp)$/m);
  const failing = [...ASKS_CLIENT, ...REFERENCE];
  expect(await conformance(url, failing)).toMatch(/Total: 10 passed, 22 failed/);
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(0);
}, 60_000);

test('the client conforms to the protocol, with the sign-ins that it offers', async () => {
  const client = join(import.meta.dirname, 'support', 'mcp-conformance-child.ts');
  const report = await clientConformance(`"${process.execPath}" "${client}"`);
  for (const scenario of ['initialize', 'tools_call', 'sse-retry', 'auth/metadata-default'])
    expect(report).toMatch(new RegExp(`✓ ${scenario}: \\d+ passed, 0 failed`));
}, 120_000);
