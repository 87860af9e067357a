import { Text } from '@mantine/core';
import { IconBolt } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { TtftBar } from './TtftBar.tsx';
import classes from './Stats.module.css';

/** Statistics that a server reported for its answer, with the tokens of its prefix cache if it counts them. */
export function ServerStats({ stats }: { stats: AnswerStats }) {
  const { t } = useTranslation(['chat', 'servers', 'common']);
  const format = useFormat();
  const { promptTokens, cachedTokens, answerTokens } = stats.server ?? {};
  const told = (key: 'prompt' | 'cached' | 'answer', tokens: number | null | undefined): string[] =>
    tokens === null || tokens === undefined
      ? []
      : [t(`servers:counted.${key}`, { value: format.number(tokens) })];
  const counts = [
    ...told('prompt', promptTokens),
    ...told('cached', cachedTokens),
    ...told('answer', answerTokens),
    ...(stats.tokensPerSecond > 0
      ? [t('common:unit.tokensPerSecond', { value: format.number(stats.tokensPerSecond, 1) })]
      : []),
  ];
  return (
    <div className={classes.strip}>
      <div className={classes.first}>
        <span className={classes.ttft}>
          <IconBolt size={17} aria-hidden />
          <strong>{format.duration(stats.ttftMs.total)}</strong> {t('stats.toFirstToken')}
        </span>
        <Text c="dimmed">{t('servers:by', { model: stats.model })}</Text>
      </div>
      <TtftBar ttft={stats.ttftMs} />
      <Text c="dimmed">{counts.length === 0 ? t('servers:counted.nothing') : counts.join(' · ')}</Text>
    </div>
  );
}
