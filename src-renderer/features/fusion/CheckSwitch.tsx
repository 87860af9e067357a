import { Group, SegmentedControl } from '@mantine/core';
import { Subtext } from '../../ui/Subtext.tsx';
import type { CheckView, ReportView } from './model.ts';
import type { Words } from './useWords.ts';

/** Selects the check to show; renders nothing if there is only one. */
export function CheckSwitch({
  view,
  check,
  onCheck,
  words: { t },
}: {
  view: ReportView;
  check: CheckView | undefined;
  onCheck: (index: number) => void;
  words: Words;
}) {
  if (view.lenses.length < 2 || !check) return null;
  return (
    <Group gap={6}>
      <Subtext title={t('check.help')}>{t('check.label')}</Subtext>
      <SegmentedControl
        size="xs"
        aria-label={t('check.label')}
        value={String(view.lenses.indexOf(check))}
        onChange={(value) => onCheck(Number(value))}
        data={view.lenses.map(({ measure, check: { layer } }, i) => ({
          value: String(i),
          label: measure === 'attention' ? t('check.attention') : t('layers.layerName', { layer }),
        }))}
      />
    </Group>
  );
}
