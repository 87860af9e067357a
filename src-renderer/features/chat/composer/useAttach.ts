import { useTranslation } from 'react-i18next';
import { useCall, useClient } from '../../../client/context.tsx';
import { shownFailure, type ShownFailure } from '../../../i18n/failures.ts';
import { chosenFiles, filesBelow, type DropEntries, type FoundFile } from '../../../ui/dropped-files.ts';
import { ownLibrary } from '../../../ui/own-library.ts';
import { useUpload } from '../../../ui/useUpload.ts';
import { setAttachments } from '../chat-state.ts';

/** Ids of the documents that were added, and the failures. */
interface AddResult {
  ids: readonly string[];
  failures: readonly { name: string; failure: ShownFailure }[];
}

export interface AttachActions {
  drop: (dropped: DropEntries) => void;
  paste: (files: readonly File[]) => void;
  choose: (files: readonly File[]) => void;
  /** With the host's file dialog. */
  browse: () => void;
  nativeDialogs: boolean;
}

/** Maximum number of failures shown individually; a folder may have thousands. */
const SHOWN_FAILURES = 3;
let lastId = 0;

/**
 * Handles files dropped on a conversation, pasted or chosen: adds them to a library as the library screen does, then to
 * the conversation's scope. `onDocuments` receives their ids.
 */
export function useAttach(stateKey: string, onDocuments: (ids: readonly string[]) => void): AttachActions {
  const { t } = useTranslation('chat');
  const client = useClient();
  const upload = useUpload();
  const { data: info } = useCall('app.info');

  const fromPaths = async (paths: string[]): Promise<AddResult> => {
    if (paths.length === 0) return { ids: [], failures: [] }; // e.g. a pasted picture, which is not a file
    const { id: libraryId } = await ownLibrary(client);
    await client.call('libraries.addPaths', { id: libraryId, paths });
    return { ...(await client.call('documents.below', { libraryId, paths })), failures: [] };
  };
  const fromFiles = async (files: AsyncIterable<FoundFile> | Iterable<FoundFile>): Promise<AddResult> => {
    const library = await ownLibrary(client);
    const { documentIds, failed } = await upload(library, files);
    return { ids: documentIds, failures: failed.map(({ path, failure }) => ({ name: path, failure })) };
  };
  const attach = async (names: readonly string[], add: () => Promise<AddResult>): Promise<void> => {
    const [first = '', ...more] = names;
    const name = more.length > 0 ? t('scope.andMore', { name: first, count: more.length }) : first;
    const id = ++lastId;
    setAttachments(stateKey, (before) => [...before, { id, name, failure: null }]);
    const { ids, failures } = await add().catch((error: unknown): AddResult => ({
      ids: [],
      failures: [{ name, failure: shownFailure(error) }],
    }));
    if (ids.length > 0) onDocuments(ids);
    const none = { name, failure: { message: t('scope.noDocuments'), advice: '' } };
    const shown = ids.length + failures.length === 0 ? [none] : failures.slice(0, SHOWN_FAILURES);
    const refused = shown.map((failure) => ({ id: ++lastId, ...failure }));
    setAttachments(stateKey, (before) => [...before.filter((each) => each.id !== id), ...refused]);
  };
  const withFiles = (
    files: readonly File[],
    found: () => AsyncIterable<FoundFile> | Iterable<FoundFile>,
  ): void => {
    if (files.length === 0) return;
    const paths = client.uploads ? [] : files.flatMap((file) => client.pathOf(file) ?? []);
    const names = files.map(({ name }) => name);
    void attach(names, () => (client.uploads ? fromFiles(found()) : fromPaths(paths)));
  };
  const browse = async (): Promise<void> => {
    const { paths } = await client.call('app.choosePaths', { kind: 'documents' });
    if (paths.length === 0) return;
    await attach(
      paths.map((path) => path.split(/[\\/]/).at(-1) ?? path),
      () => fromPaths(paths),
    );
  };
  return {
    nativeDialogs: info?.nativeDialogs ?? false,
    drop: ({ files, entries }) => withFiles(files, () => filesBelow(entries)),
    paste: (files) => withFiles(files, () => chosenFiles(files)),
    choose: (files) => withFiles(files, () => chosenFiles(files)),
    browse: () => void browse(),
  };
}
