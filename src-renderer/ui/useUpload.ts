import { useTranslation } from 'react-i18next';
import type { LibraryInfo } from '../../src-shared/contract/libraries.ts';
import { useCall, useClient } from '../client/context.tsx';
import type { FoundFile } from './dropped-files.ts';
import { upload, type UploadBatch } from './uploads.ts';
import { useFormat } from './useFormat.ts';

/** Uploads files to a library; those above the settings' limit are refused. */
export function useUpload(): (
  library: LibraryInfo,
  files: AsyncIterable<FoundFile> | Iterable<FoundFile>,
) => Promise<UploadBatch> {
  const { t } = useTranslation('library');
  const client = useClient();
  const format = useFormat();
  const { data: settings } = useCall('settings.get');
  const maxBytes = settings?.maxFileBytes ?? Number.POSITIVE_INFINITY;
  const tooLarge = t('upload.tooLarge', { size: format.bytes(maxBytes) });
  return (library, files) => upload({ client, library, files, maxBytes, tooLarge });
}
