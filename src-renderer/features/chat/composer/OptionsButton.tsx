import { Button, Popover } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { takesRatio } from '../../../../src-shared/strategy.ts';
import { useCall } from '../../../client/context.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { OptionsForm, type OptionsProps } from './OptionsForm.tsx';
import classes from './Composer.module.css';

/** Summary of the conversation's sources; a click changes them. */
export function OptionsButton({ options, onChange }: OptionsProps) {
  const { t } = useTranslation('chat');
  const summary = useSummary(options);
  return (
    <Popover position="top-start" width={400} shadow="lg" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          className={classes.options ?? ''}
          size="compact-sm"
          variant="subtle"
          color="gray"
          fw={400}
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          aria-label={`${t('composer.options')}: ${summary}`}
        >
          {summary}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('options.title')} mah="min(72vh, 640px)" style={{ overflowY: 'auto' }}>
        <OptionsForm title={t('options.title')} options={options} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Omits what chips already show; names the blending strategy only if the conversation overrides it. */
function useSummary({ scope, strategy, topK }: ConversationOptions): string {
  const { t } = useTranslation(['chat', 'strategies', 'common']);
  const format = useFormat();
  const { data: settings } = useCall('settings.get');
  const { libraryIds, documentIds } = scope;
  const parts: string[] = [];
  if (documentIds.length > 0) parts.push(t('composer.documents', { count: documentIds.length }));
  else if (libraryIds.length > 0) parts.push(t('composer.libraries', { count: libraryIds.length }));
  else parts.push(t('common:allLibraries'));
  if (strategy) {
    const ratio = takesRatio(strategy.name) ? ` ${format.percent(strategy.ratio)}` : '';
    parts.push(`${t(`strategies:${strategy.name}.name`)}${ratio}`);
  }
  const passages = topK ?? settings?.topK;
  if (passages !== undefined) parts.push(t('common:unit.passages', { count: passages }));
  return parts.join(' · ');
}
