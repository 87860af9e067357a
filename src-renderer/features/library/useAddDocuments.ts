import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useCall, useClient } from '../../client/context.tsx';
import { chosenFiles, filesBelow, type DropEntries, type FoundFile } from '../../ui/dropped-files.ts';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { ownLibrary } from '../../ui/own-library.ts';
import { useAskAddress } from './AddressForm.tsx';
import { useAskPath } from './PathForm.tsx';
import { useUpload } from '../../ui/useUpload.ts';

export interface AddDocuments {
  /** Whether the host has native file dialogs. */
  nativeDialogs: boolean;
  choose: (kind: 'documents' | 'folder') => void;
  take: (files: Iterable<File>) => void;
  drop: (dropped: DropEntries) => void;
  askPath: () => void;
  askAddress: () => void;
}

/** All ways to add documents: drop, file dialog, path, web address. Files with a path are used in place, others are uploaded. */
export function useAddDocuments(library: LibraryInfo | undefined): AddDocuments {
  const { t } = useTranslation('library');
  const client = useClient();
  const upload = useUpload();
  const { data: info } = useCall('app.info');
  const askPath = useAskPath();
  const askAddress = useAskAddress();
  const [, navigate] = useLocation();

  const target = async (): Promise<LibraryInfo | undefined> => {
    if (!library?.sample) return library;
    const to = await ownLibrary(client);
    navigate(`/library/${encodeURIComponent(to.id)}`);
    return to;
  };
  const addPaths = async (paths: string[], watch = true): Promise<void> => {
    const to = paths.length > 0 ? await target() : undefined;
    if (!to) return;
    await client.call('libraries.addPaths', { id: to.id, paths, watch });
    notifyInfo(t('add.added', { count: paths.length }));
  };
  const addAddress = async (url: string): Promise<void> => {
    const to = await target();
    if (!to) return;
    const { path } = await client.call('libraries.addAddress', { id: to.id, url });
    notifyInfo(t('add.fetched', { path }));
  };
  const send = async (files: AsyncIterable<FoundFile> | Iterable<FoundFile>): Promise<void> => {
    const to = await target();
    if (to) await upload(to, files);
  };
  const choose = async (kind: 'documents' | 'folder'): Promise<void> =>
    addPaths((await client.call('app.choosePaths', { kind })).paths);
  const pathsOf = (files: readonly File[]): string[] => files.flatMap((file) => client.pathOf(file) ?? []);
  return {
    nativeDialogs: info?.nativeDialogs ?? false,
    choose: (kind) => void choose(kind).catch(notifyFailure),
    take: (files) => void send(chosenFiles(files)).catch(notifyFailure),
    drop: ({ files, entries }) => {
      if (client.uploads) send(filesBelow(entries)).catch(notifyFailure);
      else addPaths(pathsOf(files)).catch(notifyFailure);
    },
    askPath: () => askPath(addPaths),
    askAddress: () => askAddress(addAddress),
  };
}
