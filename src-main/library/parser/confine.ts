import dgram from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Removes from this process what reading a document does not need: network connections (Node's permissions do not cover them), and
 * environment variables, which may contain secrets. A defence against exploited parsers, not against native code.
 */
export function confine(): void {
  const refuse = (): never => {
    throw new Error('A document may not open connections.');
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.createSocket = refuse;
  syncBuiltinESMExports();
  for (const name of Object.keys(process.env)) if (!KEPT.has(name)) Reflect.deleteProperty(process.env, name);
}

/** Variables that the runtime itself reads. */
const KEPT = new Set([
  'LANG',
  'LC_ALL',
  'TZ',
  'SystemRoot',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
]);
