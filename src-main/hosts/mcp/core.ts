import type { App } from '../../app.ts';

/** What MCP's tools and resources need. */
export type McpCore = Pick<App, 'completions' | 'libraries' | 'search' | 'models' | 'log' | 'version'>;
