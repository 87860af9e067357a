import { useTranslation } from 'react-i18next';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useCall, useClient } from '../../client/context.tsx';
import { chosenFiles, filesBelow, type Dropped, type FoundFile } from '../../ui/dropped-files.ts';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useAskPath } from './PathForm.tsx';
import { upload } from './uploads.ts';

export interface AddDocuments {
  /** Whether the host opens the system's own dialogs. */
  nativeDialogs: boolean;
  choose: (kind: 'documents' | 'folder') => void;
  take: (files: Iterable<File>) => void;
  drop: (dropped: Dropped) => void;
  askPath: () => void;
}

/** Every way in: dropped, chosen in a dialog, named by path. Files with a path stay where they are, others are uploaded. */
export function useAddDocuments(library: LibraryInfo | undefined): AddDocuments {
  const { t } = useTranslation(['library', 'common']);
  const client = useClient();
  const format = useFormat();
  const { data: info } = useCall('app.info');
  const { data: settings } = useCall('settings.get');
  const failed = (error: unknown): void => notifyFailure(error, t('common:error.title'));
  const askPath = useAskPath();

  const addPaths = async (paths: string[]): Promise<void> => {
    if (!library || paths.length === 0) return;
    await client.call('libraries.addPaths', { id: library.id, paths });
    notifyInfo(t('add.added', { count: paths.length }));
  };
  const send = (files: AsyncIterable<FoundFile> | Iterable<FoundFile>): void => {
    if (!library) return;
    const maxBytes = settings?.maxFileBytes ?? Number.POSITIVE_INFINITY;
    const tooLarge = t('upload.tooLarge', { size: format.bytes(maxBytes) });
    upload({ client, library, files, maxBytes, tooLarge }).catch(failed);
  };
  const choose = async (kind: 'documents' | 'folder'): Promise<void> =>
    addPaths((await client.call('app.choosePaths', { kind })).paths);
  const pathsOf = (files: readonly File[]): string[] => files.flatMap((file) => client.pathOf(file) ?? []);
  return {
    nativeDialogs: info?.nativeDialogs ?? false,
    choose: (kind) => void choose(kind).catch(failed),
    take: (files) => send(chosenFiles(files)),
    drop: ({ files, entries }) => {
      if (client.uploads) send(filesBelow(entries));
      else addPaths(pathsOf(files)).catch(failed);
    },
    askPath: () => library && askPath(library),
  };
}
