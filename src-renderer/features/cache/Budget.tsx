import { Button, NumberInput, Slider } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import type { SettingsChanges } from '../../../src-shared/settings.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { joinSentences } from '../../i18n/join-sentences.ts';
import { Subtext } from '../../ui/Subtext.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { fromSlider, SLIDER_STEPS, toSlider } from '../../ui/log-scale.ts';
import { Meter } from '../../ui/Meter.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { budgetFacts, loweringOf, type Tier } from './budget.ts';
import { Section } from './Section.tsx';
import classes from './Cache.module.css';

const GB = 1e9;

const COLOURS: Record<Tier, string> = {
  disk: 'var(--kv-disk)',
  memory: 'var(--kv-ram)',
  device: 'var(--kv-device)',
};

const SETTINGS = {
  disk: 'diskBudgetBytes',
  memory: 'memoryBudgetBytes',
  device: 'deviceBudgetBytes',
} as const satisfies Record<Tier, keyof SettingsChanges>;

/** Rounded like the sizes next to it; below one gigabyte, one decimal would be too coarse. */
function inGigabytes(bytes: number): number {
  return Number((bytes / GB).toFixed(bytes < GB ? 2 : 1));
}

/** Use and budget of a tier. Lowering the budget asks first if it evicts something. */
export function Budget({ tier, stats }: { tier: Tier; stats: CacheStats }) {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const { data: info } = useCall('app.info');
  const { used, budget, scale } = budgetFacts(tier, stats, info?.memoryTotal ?? 0);
  const [draft, setDraft] = useState<number>();
  // The dialog takes the focus from the field; that blur must not ask a second time.
  const asking = useRef(false);
  const setBudget = useSetBudget(tier, stats, () => {
    asking.current = false;
    setDraft(undefined);
  });
  const shown = draft ?? budget;
  const label = t(`budgetOf.${tier}`);
  const value = t('ofBudget', { used: format.bytes(used), budget: format.bytes(budget) });
  const keep = (): void => {
    if (asking.current) return;
    asking.current = draft !== undefined && Math.round(draft) !== budget;
    if (asking.current) setBudget(Math.round(draft ?? budget));
    else setDraft(undefined);
  };
  return (
    <Section title={t(tier)} value={value}>
      <Meter
        share={budget > 0 ? used / budget : 0}
        label={`${t(tier)}: ${value}`}
        height={8}
        color={COLOURS[tier]}
      />
      <div className={classes.budget}>
        <Slider
          size="sm"
          thumbLabel={label}
          label={null}
          min={0}
          max={SLIDER_STEPS}
          step={5}
          value={toSlider(shown, scale)}
          onChange={(position) => {
            if (position !== toSlider(shown, scale)) setDraft(fromSlider(position, scale));
          }}
          onChangeEnd={keep}
        />
        <NumberInput
          size="xs"
          w={104}
          aria-label={label}
          suffix={` ${t('gigabytes')}`}
          min={0}
          decimalScale={2}
          step={1}
          value={inGigabytes(shown)}
          onChange={(gigabytes) => {
            // A value that differs only by the field's rounding was not edited.
            if (typeof gigabytes === 'number' && gigabytes !== inGigabytes(shown)) setDraft(gigabytes * GB);
          }}
          onBlur={keep}
          onKeyDown={({ key }) => key === 'Enter' && keep()}
        />
      </div>
      {tier === 'disk' && <DiskHelp stats={stats} onTake={setBudget} />}
      {tier === 'device' && <DeviceHelp automatic={stats.device?.automatic ?? true} />}
    </Section>
  );
}

/** Free space, and the budget proposed for it until a person sets one. */
function DiskHelp({ stats, onTake }: { stats: CacheStats; onTake: (bytes: number) => void }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const { diskFreeBytes, proposal } = stats;
  const free =
    diskFreeBytes === null ? t('diskUnknown') : t('diskFree', { size: format.bytes(diskFreeBytes) });
  return (
    <>
      <Subtext>{free}</Subtext>
      {proposal && (
        <Subtext>
          {'bytes' in proposal
            ? t('proposal.bytes', { size: format.bytes(proposal.bytes) })
            : t(`proposal.${proposal.obstacle}`)}
        </Subtext>
      )}
      {proposal && 'bytes' in proposal && (
        <Button size="compact-sm" variant="default" w="fit-content" onClick={() => onTake(proposal.bytes)}>
          {t('proposal.take')}
        </Button>
      )}
    </>
  );
}

/** GPU memory use, and the way back to an automatic budget. */
function DeviceHelp({ automatic }: { automatic: boolean }) {
  const { t } = useTranslation(['cache', 'common']);
  const update = useAction('settings.update');
  return (
    <>
      <Subtext>
        {automatic ? joinSentences([t('deviceHelp'), t('deviceAutomatic')]) : t('deviceHelp')}
      </Subtext>
      {!automatic && (
        <Button
          size="compact-sm"
          variant="default"
          w="fit-content"
          onClick={() => update.mutate({ deviceBudgetBytes: null }, { onError: notifyFailure })}
        >
          {t('deviceToAutomatic')}
        </Button>
      )}
    </>
  );
}

/** Sets a budget; asks first if that evicts something. `onDone` is also called on cancel. */
function useSetBudget(tier: Tier, stats: CacheStats, onDone: () => void): (bytes: number) => void {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const update = useAction('settings.update');
  const set = (bytes: number): void =>
    update.mutate({ [SETTINGS[tier]]: bytes }, { onError: notifyFailure, onSettled: onDone });
  return (bytes) => {
    const lowering = loweringOf(tier, stats, bytes);
    if (!lowering) {
      set(bytes);
      return;
    }
    askToConfirm({
      title: t(`lower.title.${tier}`),
      text: [
        t(`lower.${tier}`, {
          size: format.bytes(lowering.excess),
          budget: format.bytes(bytes),
          chunks: t('common:unit.chunks', { count: lowering.chunks }),
        }),
        lowering.pinnedAbove && t('lower.pinned', { size: format.bytes(stats.pinnedBytes) }),
      ],
      confirm: t('lower.confirm'),
      danger: true,
      onConfirm: () => set(bytes),
      onClose: onDone,
    });
  };
}
