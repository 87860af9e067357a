import { HoverCard, Stack, Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Ttft } from '../../../../src-shared/answer.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { TTFT_PARTS } from './speedup.ts';
import classes from './Stats.module.css';

/** The time to first token as one line, a colour a part; its parts by name on hover and focus. */
export function TtftBar({ ttft }: { ttft: Ttft }) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const parts = TTFT_PARTS.map(({ part, color }) => ({ part, color, ms: ttft[part] })).filter(
    ({ ms }) => ms > 0,
  );
  const words = parts.map(({ part, ms }) => `${t(`part.${part}.name`)} ${format.duration(ms)}`).join(', ');
  return (
    <HoverCard width={360} position="top" shadow="md" openDelay={150} withinPortal>
      <HoverCard.Target>
        <UnstyledButton className={classes.bar} aria-label={`${t('stats.partsTitle')}: ${words}`}>
          {parts.map(({ part, color, ms }) => (
            <span key={part} style={{ flexGrow: ms, background: color }} />
          ))}
        </UnstyledButton>
      </HoverCard.Target>
      <HoverCard.Dropdown>
        <Stack gap={6}>
          <Text size="sm" fw={600}>
            {t('stats.partsTitle')}: {format.duration(ttft.total)}
          </Text>
          {parts.map(({ part, color, ms }) => (
            <div key={part} className={classes.partRow}>
              <span className={classes.dot} style={{ background: color }} />
              <Text size="sm">{t(`part.${part}.name`)}</Text>
              <Text size="xs" c="dimmed">
                {t(`part.${part}.help`)}
              </Text>
              <Text size="sm" className={classes.numbers}>
                {format.duration(ms)}
              </Text>
            </div>
          ))}
        </Stack>
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
