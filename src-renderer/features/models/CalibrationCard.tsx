import { Button, Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Calibration } from '../../../src-shared/contract/calibration.ts';
import { DEFAULT_RATIO } from '../../../src-shared/strategy.ts';
import { useAction, useCall, useLatest } from '../../client/context.tsx';
import { notifyFailure, notifyFailureAs } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useNotBlended } from '../../ui/useNotBlended.ts';
import { CalibrationCharts, CalibrationTable, useCalibrationWords } from './CalibrationCharts.tsx';
import { chosenPoint } from './calibration-view.ts';
import { StatusCard } from './StatusCard.tsx';
import { joinSentences } from '../../i18n/join-sentences.ts';

/** With fewer prompts, a single differing answer exceeds the limit. */
const MANY_PROMPTS = 100;

/** How well the active model tolerates blending: measurement, curves and verdict. */
export function CalibrationCard() {
  const { t } = useTranslation('models');
  const { data: status, error, refetch } = useCall('calibration.get');
  const name = status?.model ?? null;
  const notBlended = useNotBlended();
  const title = name === null ? t('calibration.titlePlain') : t('calibration.title', { name });
  return (
    <StatusCard title={title} error={error} onRetry={() => void refetch()}>
      {status && (
        <Stack gap="md">
          <Text>{t('calibration.intro')}</Text>
          {notBlended !== undefined ? (
            <Text>{notBlended}</Text>
          ) : status.running ? (
            <Running />
          ) : (
            <Start measured={status.calibrations.length > 0} ready={status.model !== null} />
          )}
          {status.strategySet && status.calibrations.length > 0 && <UseMeasured />}
          {status.calibrations.map((calibration) => (
            <Outcome key={calibration.textKind} calibration={calibration} />
          ))}
          {status.calibrations.length === 0 && notBlended === undefined && (
            <Text c="dimmed">{t(status.model === null ? 'calibration.noModel' : 'calibration.unknown')}</Text>
          )}
        </Stack>
      )}
    </StatusCard>
  );
}

function Start({ measured, ready }: { measured: boolean; ready: boolean }) {
  const { t } = useTranslation('models');
  const { data: libraries = [] } = useCall('libraries.list');
  const [chosen, setChosen] = useState<string | null>(null);
  const run = useAction('calibration.run');
  const libraryId = chosen ?? libraries.find(({ sample }) => sample)?.id ?? libraries[0]?.id;
  const start = (): void =>
    run.mutate(libraryId === undefined ? {} : { libraryId }, {
      onError: (error) => {
        if (error.code !== 'ABORTED') notifyFailureAs(t('calibration.failed'), error);
      },
    });
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label={t('calibration.texts')}
        size="xs"
        w={260}
        allowDeselect={false}
        data={libraries.map(({ id, name }) => ({ value: id, label: name }))}
        value={libraryId ?? null}
        onChange={setChosen}
      />
      <Button
        size="xs"
        variant={measured ? 'default' : 'filled'}
        disabled={!ready || libraryId === undefined}
        loading={run.isPending}
        onClick={start}
      >
        {t(measured ? 'calibration.again' : 'calibration.run')}
      </Button>
    </Group>
  );
}

function Running() {
  const { t } = useTranslation(['models', 'common']);
  const progress = useLatest('calibration.progress');
  const stop = useAction('calibration.stop');
  const { done, total } = progress ?? { done: 0, total: 0 };
  return (
    <Group gap="sm" wrap="nowrap">
      <Stack gap={4} flex={1}>
        <Text>{t('calibration.preparing')}</Text>
        <Progress value={total > 0 ? (done / total) * 100 : 0} aria-label={t('calibration.running')} />
      </Stack>
      <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate({})}>
        {t('common:action.stop')}
      </Button>
    </Group>
  );
}

function Outcome({ calibration }: { calibration: Calibration }) {
  const { t } = useTranslation('models');
  const [numbers, { toggle }] = useDisclosure();
  return (
    <Stack gap="md">
      <Stack gap={4}>
        <Verdict calibration={calibration} />
        <Basis calibration={calibration} />
      </Stack>
      <CalibrationCharts calibration={calibration} />
      <div>
        <Button size="compact-sm" variant="subtle" aria-expanded={numbers} onClick={toggle}>
          {t('calibration.numbers')}
        </Button>
      </div>
      {numbers && <CalibrationTable calibration={calibration} />}
    </Stack>
  );
}

function Verdict({ calibration }: { calibration: Calibration }) {
  const { t } = useTranslation(['models', 'strategies']);
  const format = useFormat();
  const { verdict, strategy } = calibration.choice;
  const name = useCalibrationWords().strategy(strategy);
  const ratio = format.percent(strategy.ratio);
  const share = format.percent((chosenPoint(calibration)?.ms ?? calibration.fullMs) / calibration.fullMs);
  return (
    <Text size="md" fw={600}>
      {t(`calibration.verdict.${verdict}`, {
        strategy: strategy.name === 'none' ? name : t('calibration.at', { strategy: name, ratio }),
        share,
      })}
    </Text>
  );
}

/** The basis of the verdict. */
function Basis({ calibration }: { calibration: Calibration }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { floor, texts, textKind, prompts, promptTokens, device, dtype, measuredMs } = calibration;
  const sentences = [
    t('calibration.floor', { kl: floor.maxKl, agreement: format.percent(floor.minAgreement) }),
    t('calibration.measured', {
      ago: format.ago(measuredMs),
      device,
      dtype,
      library: texts.library,
      prompts: format.number(prompts),
      kind: t(`calibration.kind.${texts.kind}`),
      tokens: format.number(Math.round(promptTokens / prompts)),
    }),
    t(`calibration.textKind.${textKind}`, { share: format.percent(DEFAULT_RATIO) }),
    ...(prompts < MANY_PROMPTS ? [t('calibration.few')] : []),
  ];
  return <Text c="dimmed">{joinSentences(sentences)}</Text>;
}

function UseMeasured() {
  const { t } = useTranslation('models');
  const update = useAction('settings.update');
  const use = (): void => update.mutate({ strategy: null }, { onError: notifyFailure });
  return (
    <Group gap="sm">
      <Text>{t('calibration.set')}</Text>
      <Button size="compact-sm" variant="light" loading={update.isPending} onClick={use}>
        {t('calibration.useMeasured')}
      </Button>
    </Group>
  );
}
