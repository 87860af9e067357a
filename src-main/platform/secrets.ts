import { open, rename, rm } from 'node:fs/promises';
import type { Keyring } from './keyring.ts';
import { fileError } from './paths.ts';

/** A secret as it is written: encrypted and in base64 where there is a keyring, else by itself. */
export interface Sealed {
  kept: 'keyring' | 'file';
  secret: string;
}

/** Whether secrets are encrypted: a keyring that does not protect is none. */
export async function keepsIn(keyring: Keyring | undefined): Promise<Sealed['kept']> {
  return ((await keyring?.available().catch(() => false)) ?? false) ? 'keyring' : 'file';
}

export async function seal(secret: string, keyring: Keyring | undefined): Promise<Sealed> {
  const kept = await keepsIn(keyring);
  if (kept === 'file' || !keyring) return { kept: 'file', secret };
  return { kept, secret: (await keyring.encrypt(secret)).toString('base64') };
}

/** Rejects when the keyring that it was encrypted with is not at hand. */
export async function unseal({ kept, secret }: Sealed, keyring: Keyring | undefined): Promise<string> {
  if (kept === 'file') return secret;
  if (!keyring) throw new Error('there is no keyring');
  return keyring.decrypt(Buffer.from(secret, 'base64'));
}

/** Writes a file that only its user can read, whole or not at all. STORE_READ_ONLY, DISK_FULL. */
export async function writePrivate(path: string, text: string, what: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await rm(temporary, { force: true }); // its permissions would stay
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    throw fileError(error, what);
  }
}
