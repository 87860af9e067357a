import { safeStorage } from 'electron';
import type { Keyring } from '../../platform/keyring.ts';

/** Electron's: Keychain, the Data Protection API, or a secret service. Only once the app is ready. */
export const systemKeyring: Keyring = {
  async available() {
    // Without a secret service Electron encrypts with a key that everybody knows.
    if (process.platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text')
      return false;
    return safeStorage.isAsyncEncryptionAvailable();
  },
  encrypt: (text) => safeStorage.encryptStringAsync(text),
  decrypt: async (encrypted) => (await safeStorage.decryptStringAsync(encrypted)).result,
};
