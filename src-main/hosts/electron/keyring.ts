import { safeStorage } from 'electron';
import type { Keyring } from '../../platform/keyring.ts';

/** Electron's keyring: Keychain, the Data Protection API, or a secret service. Only usable once the app is ready. */
export const systemKeyring: Keyring = {
  async available() {
    // Without a secret service Electron encrypts with a publicly known key.
    if (process.platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text')
      return false;
    return safeStorage.isAsyncEncryptionAvailable();
  },
  encrypt: (text) => safeStorage.encryptStringAsync(text),
  decrypt: async (encrypted) => (await safeStorage.decryptStringAsync(encrypted)).result,
};
