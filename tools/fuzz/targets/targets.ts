import type { Target } from '../search.ts';

/** What is fuzzed as text, by the names that `npm run fuzz -- --target` takes. Some need the test runner. */
export const TARGETS = {
  archives: async () => (await import('./archives.ts')).openArchives(),
  templates: async () => (await import('./templates.ts')).openTemplates(),
  http: async () => (await import('./http.ts')).openHttp(),
  mcp: async () => (await import('./mcp.ts')).openMcp(),
  app: async () => (await import('./app.ts')).openApp(),
  websocket: async () => (await import('./websocket.ts')).openWebsocket(),
} satisfies Record<string, () => Promise<Target>>;
