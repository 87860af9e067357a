import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeElectron } from './fake-electron.test-support.ts';

test('secrets are encrypted with a key of the system, and there is none where everybody knows the key', async () => {
  const standIn = new FakeElectron();
  vi.resetModules();
  vi.doMock('electron', () => standIn.module);
  onTestFinished(() => {
    vi.doUnmock('electron');
  });
  const { systemKeyring } = await import('./keyring.ts');
  expect(await systemKeyring.available()).toBe(true);
  const encrypted = await systemKeyring.encrypt('hf_secret');
  expect(encrypted.toString()).not.toContain('hf_secret');
  expect(await systemKeyring.decrypt(encrypted)).toBe('hf_secret');
  standIn.keyring = 'basic_text';
  expect(await systemKeyring.available()).toBe(process.platform !== 'linux');
  standIn.keyring = 'unknown';
  expect(await systemKeyring.available()).toBe(false);
});
