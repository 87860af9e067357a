import type { Disposables } from '../platform/disposables.ts';
import { McpServers } from '../tools/servers/mcp-servers.ts';
import type { Base } from './base.ts';

/** Servers whose tools conversations can use; none is started yet. */
export function openMcpServers(base: Base, own: Disposables): McpServers {
  const { paths, host, version, core } = base;
  return own.add(
    new McpServers({
      ...core,
      config: paths.mcpServers,
      permissions: paths.mcpPermissions,
      signIns: paths.mcpSignIns,
      keyring: host.keyring,
      version,
    }),
  );
}
