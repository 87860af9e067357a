/** MCP's official conformance suite with the real server and client: what their capabilities cover. */
import { expect, onTestFinished, test } from 'vitest';
import {
  ASKS_CLIENT,
  clientConformance,
  failing,
  NOT_OFFERED,
  serverConformance,
} from '../src-main/testing/mcp-conformance.ts';
import { removeDir, startCli, tempDir, waitForOutput } from './cli-support.ts';
import { conformanceClient } from './support/mcp-conformance-client.ts';
import { readyData } from './support/ready-data.ts';

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
  const data = await readyData(tempDir());
  onTestFinished(() => removeDir(data));
  const running = startCli(['serve', '--api', '--data', data]);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const [, url = ''] = await waitForOutput(running, /^(http\S+\/mcp)$/m);
  const outcomes = await serverConformance(url);
  expect(outcomes).toHaveLength(30);
  expect(failing(outcomes)).toEqual([...ASKS_CLIENT, ...REFERENCE].sort());
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(0);
}, 60_000);

test('the client conforms to the protocol, with the sign-ins that it offers', async () => {
  const outcomes = await clientConformance(await conformanceClient());
  expect(outcomes).toHaveLength(26);
  // sse-retry also times the client, which a busy machine delays: its two other checks count.
  expect(failing(outcomes).filter((scenario) => scenario !== 'sse-retry')).toEqual(NOT_OFFERED.toSorted());
  expect(outcomes.find(({ scenario }) => scenario === 'sse-retry')?.passed).toBeGreaterThanOrEqual(2);
}, 120_000);
