import { Client, type FileBridge } from './client.ts';
import { SocketBridge } from './socket-bridge.ts';

declare global {
  interface Window {
    /** Set by Electron's preload. */
    kvasir?: FileBridge;
  }
}

/** Creates the client for the transport that the host offers. */
export function connect(): Client {
  return new Client(window.kvasir ?? new SocketBridge());
}
