import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { HubInfo, StartingPoint } from '../../../../src-shared/contract/hub.ts';
import { useCall } from '../../../client/context.tsx';
import { HubFileButton } from '../../../ui/hub/HubFileButton.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { HubResponse } from './HubResponse.tsx';
import { GatedBadge } from './GatedBadge.tsx';
import { pathOf } from './paths.ts';
import classes from './Discover.module.css';

/** Suggested models for this machine, each one click away. */
export function StartingPoints({ hub }: { hub: HubInfo }) {
  const { t } = useTranslation('hub');
  const format = useFormat();
  const response = useCall('hub.start');
  const points = response.data;
  const { memoryGb, gpu } = hub.machine;
  const memory = `${format.number(memoryGb)} GB`;
  return (
    <HubResponse title={t('start')} host={hub.host} response={response}>
      <Text c="dimmed">{t(gpu ? 'startText.gpu' : 'startText.memory', { memory })}</Text>
      {points?.length === 0 && <Text>{t('startNone')}</Text>}
      <Stack gap={8} component="ul">
        {points?.map((point, index) => (
          <Point key={point.repository} point={point} first={index === 0} />
        ))}
      </Stack>
    </HubResponse>
  );
}

function Point({ point, first }: { point: StartingPoint; first: boolean }) {
  const { t } = useTranslation('hub');
  const format = useFormat();
  const { repository, role, license, gated, file } = point;
  const facts = [
    t(`role.${role}`),
    file.quantization,
    t('file.disk', { bytes: format.bytes(file.bytes) }),
    file.parts > 1 && t('file.parts', { count: file.parts }),
    license === '' ? t('licenseNone') : t('license', { license }),
  ];
  return (
    <li
      className={`${classes.row ?? ''} ${classes.opens ?? ''}`}
      aria-label={repository}
      data-recommended={first || undefined}
    >
      <div className={classes.body}>
        <Link href={pathOf(repository)} className={classes.link ?? ''}>
          {repository}
        </Link>{' '}
        <GatedBadge gated={gated} />
        <Text c="dimmed">{facts.filter(Boolean).join(' · ')}</Text>
      </div>
      <div className={classes.action}>
        <HubFileButton at={point} name={repository} primary={first} />
      </div>
    </li>
  );
}
