import { expect, onTestFinished, test } from 'vitest';
import { ASKS_CLIENT, failing, serverConformance } from '../../testing/mcp-conformance.ts';
import { createApp } from './app.ts';
import { listen, LOCAL_NAMES } from './listener.ts';
import { fixtureServer } from './mcp-fixture.test-support.ts';
import { mcpOverHttp } from './mcp.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

test('the transport conforms to the protocol, with a server that has the tools of the official suite', async () => {
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
    LOG,
  );
  const listener = await listen({ fetch: app.fetch, host: '127.0.0.1', port: 0, advice: '' });
  onTestFinished(() => listener.close());
  const outcomes = await serverConformance(`${listener.address}/mcp`);
  expect(outcomes).toHaveLength(30);
  expect(failing(outcomes)).toEqual(ASKS_CLIENT.toSorted());
}, 60_000);
