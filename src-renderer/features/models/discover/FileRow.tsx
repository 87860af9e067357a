import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HubFile, HubRepository } from '../../../../src-shared/contract/hub.ts';
import { FitBadge } from '../../../ui/FitBadge.tsx';
import { HubFileButton } from '../../../ui/hub/HubFileButton.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Discover.module.css';

/** One quantisation: size, fit, estimated speed and download. */
export function FileRow({ repository, file }: { repository: HubRepository; file: HubFile }) {
  const { t } = useTranslation(['hub', 'models']);
  const name = file.quantization === '' ? (file.path.split('/').at(-1) ?? file.path) : file.quantization;
  const facts = useFileFacts(repository, file);
  const { fit, recommended, local } = file;
  return (
    <li className={classes.row} aria-label={name} data-recommended={recommended ?? undefined}>
      <div className={classes.body}>
        <Group gap="xs">
          <Text size="md" fw={600} className={classes.name}>
            {name}
          </Text>
          {recommended && <Badge variant="filled">{t('recommended')}</Badge>}
          {!recommended && file.quantization === 'Q4_K_M' && <Badge color="gray">{t('usual')}</Badge>}
          {fit && <FitBadge verdict={fit.verdict} />}
        </Group>
        <Text c="dimmed">{facts.join(' · ')}</Text>
        {recommended && <Text>{t(`why.${recommended}`)}</Text>}
        {local && !local.same && <Text>{t('changed')}</Text>}
      </div>
      {repository.failure?.code !== 'HUB_GATED' && (
        <div className={classes.action}>
          <HubFileButton
            at={{ repository: repository.repository, revision: repository.revision, file }}
            name={name}
            primary={recommended !== null}
          />
        </div>
      )}
    </li>
  );
}

function useFileFacts({ bytesPerSecond }: HubRepository, { bytes, parts, fit, speed }: HubFile): string[] {
  const { t } = useTranslation('hub');
  const format = useFormat();
  const rounded = (value: number): string => format.number(value, value < 10 ? 1 : 0);
  const memory = fit && {
    bytes: format.bytes(fit.weightsBytes + fit.kvBytes + fit.computeBytes),
    tokens: format.number(fit.contextTokens),
  };
  return [
    t('file.disk', { bytes: format.bytes(bytes) }),
    parts > 1 && t('file.parts', { count: parts }),
    memory && t('file.memory', memory),
    speed.reading !== null && t('file.reading', { speed: rounded(speed.reading) }),
    speed.writing !== null && t('file.writing', { speed: rounded(speed.writing) }),
    bytesPerSecond !== null &&
      t('file.minutes', { time: format.duration(1000 * Math.ceil(bytes / bytesPerSecond)) }),
  ].filter((fact): fact is string => typeof fact === 'string');
}
