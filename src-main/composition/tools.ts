import type { Disposables } from '../platform/disposables.ts';
import { McpServers } from '../tools/servers/mcp-servers.ts';
import type { Base } from './base.ts';

/** Where conversations get tools from. */
export function openTools({ paths, host: { keyring }, version, core }: Base, own: Disposables) {
  const { mcpServers: config, mcpPermissions: permissions, mcpSignIns: signIns } = paths;
  return { mcpServers: own.add(new McpServers({ config, permissions, signIns, keyring, version, ...core })) };
}
