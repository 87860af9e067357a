import type { Bridge } from '../../../src-shared/contract/bridge.ts';
import { ContractClient } from '../../../src-shared/contract/client.ts';

interface CoreConnection extends Pick<Bridge, 'call' | 'onEvent'> {
  /** Rejects with CONNECTION_LOST when the core has ended. */
  lost?: Promise<never>;
  disconnect?: () => void;
}

/** A command's client of the core: in this process, or in the one that owns the data folder. */
export class CoreClient extends ContractClient {
  /** Rejects with CONNECTION_LOST when the core has ended. */
  readonly lost: Promise<never>;
  readonly #disconnect: (() => void) | undefined;

  constructor(connection: CoreConnection) {
    super(connection);
    this.lost = connection.lost ?? new Promise(() => undefined);
    this.#disconnect = connection.disconnect;
  }

  /** Runs work, then closes the client. CONNECTION_LOST. */
  async use(work: (client: this) => Promise<void>): Promise<void> {
    try {
      await Promise.race([work(this), this.lost]);
    } finally {
      await this.close();
    }
  }

  /** Resolves once everything is closed that this client opened. */
  async close(): Promise<void> {
    try {
      await this.call('command.close');
    } finally {
      this.#disconnect?.();
    }
  }
}
