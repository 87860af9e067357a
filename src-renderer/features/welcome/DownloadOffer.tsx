import { Anchor, Button, Group, Text } from '@mantine/core';
import { IconWorldDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { StartingPoint } from '../../../src-shared/contract/hub.ts';
import { useCall } from '../../client/context.tsx';
import { FailureText } from '../../ui/FailureText.tsx';
import { HubFileButton } from '../../ui/hub/HubFileButton.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import rows from '../../ui/found/FoundModelRow.module.css';
import classes from './Welcome.module.css';

/** A model to download; the hub is contacted only after a click. */
export function DownloadOffer() {
  const { t } = useTranslation('hub');
  const { data: info } = useCall('hub.info');
  const [asked, setAsked] = useState(false);
  const { data: points, error, isFetching } = useCall('hub.start', {}, { enabled: asked });
  const point = points?.find(({ role, gated }) => role === 'chat' && gated === 'no');
  if (!info) return null;
  return (
    <section aria-label={t('first.title')} className={classes.offer}>
      {point ? (
        <Offer point={point} />
      ) : (
        <Group gap="xs">
          <Text c="dimmed">{t('first.text', { host: info.host })}</Text>
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconWorldDownload size={16} />}
            loading={isFetching}
            onClick={() => setAsked(true)}
          >
            {t('first.look')}
          </Button>
        </Group>
      )}
      {points && !point && <Text mt={6}>{t('startNone')}</Text>}
      {error && (
        <Text mt={6} role="status">
          <FailureText failure={error} />
        </Text>
      )}
    </section>
  );
}

function Offer({ point }: { point: StartingPoint }) {
  const { t } = useTranslation('hub');
  const format = useFormat();
  const { repository, file, license } = point;
  // The speed of the hub is known once the header has arrived.
  const { data } = useCall('hub.repository', { repository });
  const speed = data?.bytesPerSecond ?? null;
  const name = (repository.split('/').at(-1) ?? repository).replace(/-GGUF$/i, '');
  const words = { name, bytes: format.bytes(file.bytes) };
  return (
    <div className={rows.row}>
      <Group justify="space-between" wrap="nowrap">
        <Text>
          {speed === null
            ? t('first.offer', words)
            : t('first.offerTime', {
                ...words,
                time: format.duration(1000 * Math.ceil(file.bytes / speed)),
              })}{' '}
          <Text span c="dimmed">
            {license !== '' && `${t('license', { license })} · `}
            <Anchor component={Link} href="/models/discover" inherit>
              {t('first.more')}
            </Anchor>
          </Text>
        </Text>
        <HubFileButton at={point} name={name} primary={false} />
      </Group>
    </div>
  );
}
