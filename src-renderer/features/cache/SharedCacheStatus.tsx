import { Anchor, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { SharingStatus } from '../../../src-shared/contract/sharing.ts';
import { useCall } from '../../client/context.tsx';
import { FailureText } from '../../ui/FailureText.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { Section } from './Section.tsx';

/** Status of the shared cache. */
export function SharedCacheStatus() {
  const { t } = useTranslation('sharing');
  const { data } = useCall('sharing.info');
  if (!data) return null;
  const { state } = data.status;
  return (
    <Section title={t('status.title')} value={t(`status.${state}`)}>
      {state === 'off' ? (
        <Anchor component={Link} href="/settings">
          {t('status.set')}
        </Anchor>
      ) : (
        <Doing status={data.status} />
      )}
    </Section>
  );
}

function Doing({ status }: { status: SharingStatus }) {
  const { t, i18n } = useTranslation('sharing');
  const { failure, retryMs, where } = status;
  return (
    <div role="status">
      <Text c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {[where, status.encrypted && t('status.encrypted'), !status.writable && t('status.readOnly')]
          .filter((part) => part !== false && part !== '')
          .join(' · ')}
      </Text>
      <Lines status={status} />
      {failure && (
        <Text>
          <FailureText failure={failure} />
        </Text>
      )}
      {retryMs !== null && (
        <Text c="dimmed">
          {t('status.retry', {
            time: new Intl.DateTimeFormat(i18n.language, { timeStyle: 'medium' }).format(retryMs),
          })}
        </Text>
      )}
    </div>
  );
}

/** The figures that are known so far. */
function Lines({ status }: { status: SharingStatus }) {
  const { t } = useTranslation(['sharing', 'common']);
  const format = useFormat();
  const chunks = (count: number): string => t('common:unit.chunks', { count });
  const { read, bytesRead, written, bytesWritten, waiting, corrupt, latencyMs, bytesPerSecond } = status;
  const latency = format.duration(latencyMs ?? 0);
  const lines = [
    read > 0 && t('status.read', { size: format.bytes(bytesRead), chunks: chunks(read) }),
    written > 0 && t('status.written', { size: format.bytes(bytesWritten), chunks: chunks(written) }),
    waiting > 0 && t('status.waiting', { chunks: chunks(waiting) }),
    latencyMs !== null &&
      (bytesPerSecond === null
        ? t('status.latency', { latency })
        : t('status.speed', { latency, speed: format.bytes(bytesPerSecond) })),
    corrupt > 0 && t('status.corrupt', { chunks: chunks(corrupt) }),
  ].filter((line) => line !== false);
  return lines.map((line) => (
    <Text key={line} c="dimmed">
      {line}
    </Text>
  ));
}
