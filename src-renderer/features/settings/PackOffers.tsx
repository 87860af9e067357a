import { Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PackOffer } from '../../../src-shared/contract/devices.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { joinSentences } from '../../i18n/join-sentences.ts';
import { Subtext } from '../../ui/Subtext.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { DeviceFailure } from './DeviceFailure.tsx';

/** GPU packs that are not installed, each with its installation and progress. */
export function PackOffers() {
  const { data: offers = [] } = useCall('devices.offers');
  return offers.map((offer) => <Offer key={offer.pack} {...offer} />);
}

function Offer(offer: PackOffer) {
  const { pack, title, failure } = offer;
  const { t } = useTranslation('settings');
  const words = [
    t(`engine.pack.help.${pack}`),
    offer.needs.length > 0 && t('engine.pack.needs', { libraries: offer.needs }),
    !offer.driver && t('engine.pack.noDriver'),
  ].filter((word) => word !== false);
  const name = t('engine.pack.name', { title });
  return (
    <Paper withBorder p="sm" role="group" aria-label={name}>
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600}>{name}</Text>
          <OfferButton {...offer} />
        </Group>
        <Text c="dimmed">{joinSentences(words)}</Text>
        <OfferProgress {...offer} />
        {failure && <DeviceFailure failure={failure} color="var(--kv-danger)" />}
      </Stack>
    </Paper>
  );
}

function OfferButton({ pack, title, state, bytes }: PackOffer) {
  const { t } = useTranslation(['settings', 'common']);
  const format = useFormat();
  const get = useAction('devices.fetchPack');
  const cancel = useAction('devices.cancelPack');
  if (state === 'fetching' || state === 'unpacking')
    return (
      <Button
        size="xs"
        variant="default"
        loading={cancel.isPending}
        onClick={() => cancel.mutate({ pack }, { onError: notifyFailure })}
      >
        {t('common:action.cancel')}
      </Button>
    );
  return (
    <Button
      size="xs"
      variant="default"
      loading={get.isPending}
      onClick={() => get.mutate({ pack }, { onError: notifyFailure })}
    >
      {state === 'failed'
        ? t('common:action.retry')
        : t('engine.pack.get', { title, size: format.bytes(bytes) })}
    </Button>
  );
}

function OfferProgress({ title, state, bytes, bytesDone }: PackOffer) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  if (state !== 'fetching' && state !== 'unpacking') return null;
  return (
    <>
      <Progress
        value={bytes > 0 ? (bytesDone / bytes) * 100 : 0}
        aria-label={t('engine.pack.name', { title })}
      />
      <Subtext>
        {state === 'unpacking'
          ? t('engine.pack.unpacking')
          : t('engine.pack.fetching', { done: format.bytes(bytesDone), total: format.bytes(bytes) })}
      </Subtext>
    </>
  );
}
