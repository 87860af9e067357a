import type { Handlers, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function toolHandlers({
  mcpServers,
}: Pick<App, 'mcpServers'>): Pick<Handlers, Extract<ProcedureName, `tools.${string}`>> {
  return {
    'tools.list': () => mcpServers.list(),
    'tools.addServer': (added) => mcpServers.add(added),
    'tools.importServers': ({ text }) => ({ names: mcpServers.import(text) }),
    'tools.removeServer': ({ name }) => mcpServers.remove(name),
    'tools.enableServer': ({ name, enabled }) => mcpServers.enable(name, enabled),
    'tools.startServer': ({ name }) => mcpServers.start(name),
    'tools.signIn': ({ name }) => mcpServers.signIn(name),
    'tools.allow': ({ server, tool, allowed }) => mcpServers.setAllowed(server, tool, allowed),
  };
}
