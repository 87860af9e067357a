import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import {
  CLIENT_TEXT,
  type Interval,
  type WatchedLibrary,
  type WatchingStatus,
} from '../../../src-shared/contract/watching.ts';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useNotBlended } from '../../ui/useNotBlended.ts';
import { chart } from '../../viz/chart/chart.ts';
import { PictureView } from '../../viz/PictureView.tsx';
import type { ItemNote } from '../../viz/Tip.tsx';
import { StatusCard } from './StatusCard.tsx';
import { joinSentences } from '../../i18n/join-sentences.ts';
import { agreementChart, klChart, verdictOf, type WatchingWords } from './watching-view.ts';

/** How far answers in use deviated from their full prefill, by model and library, and the consequences. */
export function WatchingCard() {
  const { t } = useTranslation('models');
  const { data: status, error, refetch } = useCall('watching.get');
  const { data: models = [] } = useCall('models.list');
  const title = t('watching.title');
  return (
    <StatusCard title={title} error={error} onRetry={() => void refetch()}>
      {status && (
        <Stack gap="lg">
          <Stack gap="xs">
            <Text>{t('watching.intro')}</Text>
            <Circumstances empty={status.libraries.length === 0} daily={status.daily} />
          </Stack>
          {inUseFirst(status.libraries, models).map((watched) => (
            <Watched key={`${watched.modelId} ${watched.libraryId}`} watched={watched} status={status} />
          ))}
        </Stack>
      )}
    </StatusCard>
  );
}

function inUseFirst(
  libraries: readonly WatchedLibrary[],
  models: readonly Pick<ModelEntry, 'id' | 'active'>[],
): WatchedLibrary[] {
  const others = ({ modelId }: WatchedLibrary) => !models.some(({ id, active }) => active && id === modelId);
  return libraries.toSorted((a, b) => Number(others(a)) - Number(others(b)));
}

/** Why nothing is compared, or not yet. */
function Circumstances({ empty, daily }: { empty: boolean; daily: number }) {
  const { t } = useTranslation('models');
  const { data: settings } = useCall('settings.get');
  const notBlended = useNotBlended();
  if (!settings) return null;
  const sentence = !settings.watchAnswers
    ? t('watching.off')
    : (notBlended ??
      (settings.strategy.name !== 'auto'
        ? t('watching.asked')
        : empty
          ? t('watching.empty', { daily })
          : undefined));
  if (sentence === undefined) return null;
  return <Text c="dimmed">{sentence}</Text>;
}

function Watched({ watched, status }: { watched: WatchedLibrary; status: WatchingStatus }) {
  const { t } = useTranslation('models');
  const { data: models = [] } = useCall('models.list');
  const { data: libraries = [] } = useCall('libraries.list');
  const model = models.find(({ id }) => id === watched.modelId)?.name ?? '';
  const library = libraries.find(({ id }) => id === watched.libraryId)?.name ?? '';
  const name =
    watched.libraryId === CLIENT_TEXT
      ? t('watching.ofClients', { model })
      : t('watching.of', { model, library });
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} flex={1} miw={260}>
          <Text size="md" fw={600}>
            {name}
          </Text>
          <Conclusion watched={watched} status={status} />
        </Stack>
        {watched.leastRatio > 0 && <BlendAgain watched={watched} />}
      </Group>
      {watched.answers.length > 0 && <Charts watched={watched} floor={status.floor} />}
      <Figures watched={watched} floor={status.floor} />
    </Stack>
  );
}

function Conclusion({ watched, status }: { watched: WatchedLibrary; status: WatchingStatus }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { counted, leastRatio } = watched;
  const { fewest } = status;
  const verdict = verdictOf(watched, status);
  const few = counted === 0 ? t('watching.state.none') : t('watching.state.few', { count: counted, fewest });
  const sentences =
    verdict === 'few'
      ? [few]
      : [
          t(`watching.state.${verdict}`, { ratio: format.percent(leastRatio) }),
          ...(verdict === 'raised' && counted < fewest ? [few] : []),
        ];
  return <Text>{joinSentences(sentences)}</Text>;
}

function BlendAgain({ watched: { modelId, libraryId, leastRatio } }: { watched: WatchedLibrary }) {
  const { t } = useTranslation('models');
  const reset = useAction('watching.reset');
  const again = (): void => reset.mutate({ modelId, libraryId }, { onError: notifyFailure });
  return (
    <Button size="xs" variant="default" loading={reset.isPending} onClick={again}>
      {t(leastRatio >= 1 ? 'watching.again' : 'watching.before')}
    </Button>
  );
}

/** The same data as a table, for the answers that count. */
function Figures({ watched, floor }: { watched: WatchedLibrary; floor: WatchingStatus['floor'] }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { number } = useWatchingWords();
  const counted = watched.answers.slice(watched.answers.length - watched.counted);
  const last = watched.answers.at(-1);
  const share = (of: (answer: (typeof counted)[number]) => number): string =>
    format.percent(counted.reduce((sum, answer) => sum + of(answer), 0) / counted.length);
  const range = ({ mean, low, high }: Interval, limit: number) => ({
    mean: number(mean),
    low: number(Math.max(0, low)),
    high: number(high),
    limit: number(limit),
  });
  const facts = [
    ...(watched.kl ? [t('watching.kl', range(watched.kl, floor.maxKl))] : []),
    ...(counted.length > 0 ? [t('watching.kept', { share: share(({ agreement }) => agreement) })] : []),
    ...(last ? [t('watching.last', { ago: format.ago(last.measuredMs) })] : []),
  ];
  return <Text c="dimmed">{facts.join(' · ')}</Text>;
}

function Charts({ watched, floor }: { watched: WatchedLibrary; floor: WatchingStatus['floor'] }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const words = useWatchingWords();
  const pictures = useMemo(
    () => [
      { picture: chart(klChart(watched, floor.maxKl, words)), label: t('watching.klPicture') },
      {
        picture: chart(agreementChart(watched, floor.minAgreement, words)),
        label: t('watching.agreementPicture'),
      },
    ],
    [watched, floor, words, t],
  );
  const note = (item: number): ItemNote | undefined => {
    const answer = watched.answers[item];
    return (
      answer && {
        title: t('watching.answer', { number: item + 1, ago: format.ago(answer.measuredMs) }),
        rows: [
          [t('calibration.columns.kl'), words.number(answer.kl)],
          [t('calibration.columns.agreement'), format.percent(answer.agreement)],
          [t('watching.columns.ratio'), format.percent(answer.ratio)],
        ],
      }
    );
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {pictures.map(({ picture, label }) => (
        <PictureView key={label} picture={picture} label={label} note={note} />
      ))}
    </SimpleGrid>
  );
}

function useWatchingWords(): WatchingWords {
  const { t } = useTranslation('models');
  const format = useFormat();
  return useMemo(
    () => ({
      x: t('watching.x'),
      kl: t('watching.klAxis'),
      agreement: t('calibration.agreement'),
      percent: (share) => format.percent(share),
      mean: t('watching.mean'),
      interval: t('watching.interval'),
      limit: t('calibration.floorLine'),
      number: (value) => format.number(value, value < 0.1 ? 4 : 2),
    }),
    [t, format],
  );
}
