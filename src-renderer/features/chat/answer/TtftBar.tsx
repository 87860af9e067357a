import { HoverCard, Stack, Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Ttft } from '../../../../src-shared/ttft.ts';
import { Subtext } from '../../../ui/Subtext.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { ANSWER_STAGES, STAGE_COLOURS } from '../../../viz/stages.ts';
import classes from './Stats.module.css';

/** The time to first token as a stacked bar; names of the parts on hover and focus. */
export function TtftBar({ ttft }: { ttft: Ttft }) {
  const { t } = useTranslation(['chat', 'stages']);
  const format = useFormat();
  const parts = ANSWER_STAGES.map((part) => ({
    part,
    color: `var(--kv-${STAGE_COLOURS[part]})`,
    ms: ttft[part],
  })).filter(({ ms }) => ms > 0);
  const words = parts.map(({ part, ms }) => `${t(`stages:${part}.name`)} ${format.duration(ms)}`).join(', ');
  return (
    <HoverCard width={520} position="bottom" shadow="md" openDelay={150} withinPortal>
      <HoverCard.Target>
        <UnstyledButton className={classes.bar} aria-label={`${t('stats.partsTitle')}: ${words}`}>
          {parts.map(({ part, color, ms }) => (
            <span key={part} style={{ flexGrow: ms, background: color }} />
          ))}
        </UnstyledButton>
      </HoverCard.Target>
      {/* It may cover buttons; clicks pass through. */}
      <HoverCard.Dropdown style={{ pointerEvents: 'none' }}>
        <Stack gap={6}>
          <Text fw={600}>
            {t('stats.partsTitle')}: {format.duration(ttft.total)}
          </Text>
          {parts.map(({ part, color, ms }) => (
            <div key={part} className={classes.partRow}>
              <span className={classes.dot} style={{ background: color }} />
              <Text>{t(`stages:${part}.name`)}</Text>
              <Subtext>{t(`stages:${part}.help`)}</Subtext>
              <Text className={classes.numbers}>{format.duration(ms)}</Text>
            </div>
          ))}
        </Stack>
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
