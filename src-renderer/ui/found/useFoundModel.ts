import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FoundModel } from '../../../src-shared/contract/found-models.ts';
import { useCall, useClient } from '../../client/context.tsx';
import { notifyFailure, notifyInfo } from '../notify.tsx';

/** Adds a found model to the list and activates it, in place. */
export function useFoundModel({ path, name, id }: FoundModel): {
  use: () => Promise<void>;
  busy: boolean;
  active: boolean;
} {
  const { t } = useTranslation('found');
  const client = useClient();
  const { data: models } = useCall('models.list');
  const [busy, setBusy] = useState(false);

  async function use(): Promise<void> {
    setBusy(true);
    try {
      const entry = await client.call('models.addFound', { path });
      await client.call('models.activate', { id: entry.id });
      notifyInfo(t('using', { name }));
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return { use, busy, active: models?.some((model) => model.id === id && model.active) ?? false };
}
