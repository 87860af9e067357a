import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import type { HubFile } from '../../../src-shared/contract/hub.ts';
import type { Download } from '../../../src-shared/contract/models.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { notifyFailure, notifyInfo } from '../notify.tsx';

/** A file on the hub, with the fields that a download needs. */
export interface HubFileAt {
  repository: string;
  revision: string;
  file: Pick<HubFile, 'path' | 'local'>;
}

/** Downloads a file from the hub, and activates the resulting model. */
export function useHubFile({ repository, revision, file }: HubFileAt) {
  const { t } = useTranslation('hub');
  const [, navigate] = useLocation();
  const { data: models } = useCall('models.list');
  const { data: downloads } = useCall('models.downloads');
  const begin = useAction('hub.download');
  const activate = useAction('models.activate');

  const download = downloads?.findLast(
    ({ source }) => source?.repository === repository && source.path === file.path,
  );
  const id =
    (download?.state === 'done' ? download.modelId : null) ?? (file.local?.same ? file.local.id : null);
  const model = models?.find((each) => each.id === id);

  function start(): void {
    begin.mutate({ repository, revision, path: file.path }, { onError: notifyFailure });
  }

  /** A chat model opens the chat. */
  function use(): void {
    if (!model) return;
    const onSuccess = (): void => {
      notifyInfo(t('using', { name: model.name }));
      if (model.role === 'chat') navigate('/');
    };
    activate.mutate({ id: model.id }, { onError: notifyFailure, onSuccess });
  }

  return { model, download: pending(download), start, use, busy: begin.isPending || activate.isPending };
}

function pending(download: Download | undefined): Download | undefined {
  return download?.state === 'done' ? undefined : download;
}
