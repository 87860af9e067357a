import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function toolHandlers({
  mcpServers,
  kvasirTools,
}: Pick<App, 'mcpServers' | 'kvasirTools'>): HandlersOf<'tools'> {
  return {
    'tools.list': async () => {
      const own = await kvasirTools.tools(new AbortController().signal, []);
      return {
        own: own.map(({ name, title, description }) => ({ name, title, description })),
        ...mcpServers.list(),
      };
    },
    'tools.addServer': (added) => mcpServers.add(added),
    'tools.importServers': ({ text }) => ({ names: mcpServers.import(text) }),
    'tools.removeServer': ({ name }) => mcpServers.remove(name),
    'tools.enableServer': ({ name, enabled }) => mcpServers.enable(name, enabled),
    'tools.startServer': ({ name }) => mcpServers.start(name),
    'tools.signIn': ({ name }) => mcpServers.signIn(name),
    'tools.allow': ({ server, tool, allowed }) => mcpServers.setAllowed(server, tool, allowed),
  };
}
