/** The tools, resources and prompts that the official conformance suite expects of a server, for our transport. */
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import {
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type PromptMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const IMAGE = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const text = (said: string) => ({ type: 'text' as const, text: said });
const resource = (uri: string, mimeType: string, said: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
});

const CONTENT: Readonly<Record<string, CallToolResult['content']>> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [IMAGE],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    IMAGE,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
};

export function fixtureServer(): McpServer {
  const capabilities = { logging: {}, resources: { subscribe: true } };
  const server = new McpServer({ name: 'fixture', version: '1' }, { capabilities });
  server.server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  addTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

function addTools(server: McpServer): void {
  for (const [name, content] of Object.entries(CONTENT))
    server.registerTool(name, { description: name }, () => ({ content }));
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async ({ sendNotification }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return { content: [text('Done.')] };
  });
  const progress = { description: 'Tells its progress' };
  server.registerTool('test_tool_with_progress', progress, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    for (const done of [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress: done, total: 100 };
      if (progressToken !== undefined) await sendNotification({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return { content: [text('Done.')] };
  });
}

function addResources(server: McpServer): void {
  const said = 'This is the content of the static text resource.';
  const described = { description: 'For a test' };
  server.registerResource('text', 'test://static-text', described, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: said }],
  }));
  server.registerResource('binary', 'test://static-binary', described, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, described, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
}

function addPrompts(server: McpServer): void {
  const said = (...contents: PromptMessage['content'][]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () =>
    said(text('This is a simple prompt for testing.')),
  );
  const argsSchema = { arg1: completable(z.string(), () => ['paris', 'park']), arg2: z.string() };
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema },
    ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: { resourceUri: z.string() } },
    ({ resourceUri }) =>
      said(
        resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () =>
    said(IMAGE, text('Please analyze the image above.')),
  );
}
