import i18next from 'i18next';
import type { LibraryInfo } from '../../src-shared/contract/libraries.ts';
import type { Client } from '../client/client.ts';
import { rememberedLibrary } from './last-library.ts';

/**
 * Default target for added documents: the library shown last, else the first one, else a new one. Never the sample
 * library: its suggested questions would no longer fit, and users would not find their documents there.
 */
export async function ownLibrary(client: Client): Promise<LibraryInfo> {
  const own = (await client.call('libraries.list')).filter(({ sample }) => !sample);
  const known = own.find(({ id }) => id === rememberedLibrary()) ?? own[0];
  return known ?? client.call('libraries.create', { name: i18next.t('library:opened.newName') });
}
