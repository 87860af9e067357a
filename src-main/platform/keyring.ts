/** The system's keyring, where a host has one: it keeps a key, with which secrets are encrypted before they are written. */
export interface Keyring {
  /** Whether there is one that protects: some systems have none. */
  available(): Promise<boolean>;
  encrypt(text: string): Promise<Buffer>;
  /** Rejects when this keyring cannot: it was encrypted by another user or system. */
  decrypt(encrypted: Buffer): Promise<string>;
}
