/** The system's keyring, if the host has one: it holds the key that encrypts secrets before they are written. */
export interface Keyring {
  /** Whether there is a secure one: some systems have none. */
  available(): Promise<boolean>;
  encrypt(text: string): Promise<Buffer>;
  /** Rejects if this keyring cannot: another user or system encrypted it. */
  decrypt(encrypted: Buffer): Promise<string>;
}
