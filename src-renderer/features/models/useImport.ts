import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InspectedModel } from '../../../src-shared/contract/models.ts';
import { useClient } from '../../client/context.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';

export interface ModelImport {
  /** Name and progress (0 to 1) of the current upload. */
  current: { name: string; fraction: number } | undefined;
  importFiles(files: readonly File[]): Promise<void>;
  importPath(path: string, copy: boolean): Promise<boolean>;
}

/** Imports GGUF files: by path if they have one, otherwise by uploading them to the core. */
export function useImport(): ModelImport {
  const { t } = useTranslation(['models', 'common']);
  const client = useClient();
  const [current, setCurrent] = useState<ModelImport['current']>();

  async function importPath(path: string, copy: boolean): Promise<boolean> {
    try {
      const inspected = await client.call('models.inspect', { path });
      if (!(await confirmed(inspected))) return false;
      const { name } = await client.call('models.import', { path, copy });
      notifyInfo(t('add.imported', { name }));
      return true;
    } catch (error) {
      notifyFailure(error);
      return false;
    }
  }

  /** Asks for confirmation before importing a model that cannot be blended or cannot run here. */
  async function confirmed({ name, obstacle, unsupportedReason }: InspectedModel): Promise<boolean> {
    if (!obstacle && unsupportedReason === '') return true;
    const why = obstacle
      ? t(`common:notBlended.${obstacle}`, { name })
      : t('unsupported', { reason: unsupportedReason });
    return new Promise((resolve) =>
      askToConfirm({
        title: t('add.confirmTitle', { name }),
        text: [why],
        confirm: t('add.import'),
        onConfirm: () => resolve(true),
        onClose: () => resolve(false),
      }),
    );
  }

  async function importFile(file: File): Promise<void> {
    const path = client.pathOf(file);
    if (path !== undefined) {
      await importPath(path, false);
      return;
    }
    setCurrent({ name: file.name, fraction: 0 });
    try {
      await client.upload(file, {
        target: { model: true },
        onProgress: (fraction) => setCurrent({ name: file.name, fraction }),
      });
      notifyInfo(t('add.imported', { name: file.name }));
    } catch (error) {
      notifyFailure(error);
    } finally {
      setCurrent(undefined);
    }
  }

  async function importFiles(files: readonly File[]): Promise<void> {
    for (const file of files) {
      if (file.name.toLowerCase().endsWith('.gguf')) await importFile(file);
      else notifyFailure(new Error(t('add.notGguf', { name: file.name })));
    }
  }

  return { current, importFiles, importPath };
}
