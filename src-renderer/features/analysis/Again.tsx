import { ActionIcon, Tooltip } from '@mantine/core';
import { IconReload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

/** Takes one step again, where nothing is running. */
export function Again({ analysis, step, name }: { analysis: Analysis; step: Step; name: string }) {
  const { t } = useTranslation(['analysis', 'common']);
  const resume = useAction('analysis.resume');
  const { id, state } = analysis;
  if (state === 'running' || state === 'waiting' || step.state === 'waiting') return null;
  const label = `${t('view.again')}: ${name}`;
  return (
    <Tooltip label={t('view.again')}>
      <ActionIcon
        variant="subtle"
        size="sm"
        color={step.state === 'failed' ? 'red' : 'gray'}
        aria-label={label}
        loading={resume.isPending}
        onClick={() =>
          resume.mutate(
            { id, stepId: step.id },
            { onError: (error) => notifyFailure(error, t('common:error.title')) },
          )
        }
      >
        <IconReload size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
