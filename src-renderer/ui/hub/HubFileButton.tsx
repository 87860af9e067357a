import { Badge, Button, Progress, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Download } from '../../../src-shared/contract/models.ts';
import { Subtext } from '../Subtext.tsx';
import { useFormat } from '../useFormat.ts';
import { useHubFile, type HubFileAt } from './useHubFile.ts';

/** The current action for a file on the hub: download, progress, or use. */
export function HubFileButton({ at, name, primary }: { at: HubFileAt; name: string; primary: boolean }) {
  const { t } = useTranslation(['hub', 'models', 'common']);
  const { model, download, start, use, busy } = useHubFile(at);
  const variant = primary ? 'filled' : 'light';
  if (model?.active) return <Badge>{t('common:inUse')}</Badge>;
  if (model) {
    const chat = model.role === 'chat';
    return (
      <Button
        size="xs"
        variant={variant}
        loading={busy}
        aria-label={t(chat ? 'askOf' : 'common:action.useOf', { name })}
        onClick={use}
      >
        {t(chat ? 'ask' : 'common:action.use')}
      </Button>
    );
  }
  if (download) return <Coming download={download} name={name} />;
  return (
    <Button size="xs" variant={variant} loading={busy} aria-label={t('downloadOf', { name })} onClick={start}>
      {t('common:action.download')}
    </Button>
  );
}

function Coming({ download, name }: { download: Download; name: string }) {
  const { t } = useTranslation('hub');
  const format = useFormat();
  const { state, bytesDone, bytesTotal } = download;
  const share = bytesTotal > 0 ? bytesDone / bytesTotal : 0;
  return (
    <Stack gap={4} w={88}>
      <Subtext ta="right">
        {state !== 'done' && t(`state.${state}`, { share: format.percent(share) })}
      </Subtext>
      <Progress
        size="sm"
        value={share * 100}
        color={state === 'failed' ? 'red' : 'kvasir'}
        aria-label={t('progress', { name })}
      />
    </Stack>
  );
}
