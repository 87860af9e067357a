import type { App } from '../../app.ts';

/** Dependencies of MCP's tools and resources. */
export type McpCore = Pick<
  App,
  'completions' | 'libraries' | 'tables' | 'search' | 'loader' | 'log' | 'version'
>;
