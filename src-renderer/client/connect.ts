import { Client, type FileBridge } from './client.ts';
import { SocketBridge } from './socket-bridge.ts';

declare global {
  interface Window {
    /** Set by Electron's preload. */
    kvasir?: FileBridge;
  }
}

/** The client over whatever the host offers. */
export async function connect(): Promise<Client> {
  if (window.kvasir) return new Client(window.kvasir);
  if (import.meta.env.DEV && new URLSearchParams(location.search).has('fixture')) {
    const { fixtureBridge } = await import('./fixtures/bridge.ts');
    return new Client(fixtureBridge());
  }
  return new Client(new SocketBridge());
}
