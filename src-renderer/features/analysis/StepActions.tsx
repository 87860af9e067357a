import { Button } from '@mantine/core';
import { IconReload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { mayContinue } from '../../../src-shared/contract/chat.ts';
import { useAction } from '../../client/context.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

/** Repeats one step while nothing is running. */
export function RepeatStep({ analysis, step, name }: { analysis: Analysis; step: Step; name: string }) {
  const { t } = useTranslation('analysis');
  const resume = useAction('analysis.resume');
  const { id, state } = analysis;
  if (state === 'running' || state === 'waiting' || step.state === 'waiting') return null;
  const label = `${t('view.again')}: ${name}`;
  return (
    <IconButton
      label={label}
      tip={t('view.again')}
      size="sm"
      color={step.state === 'failed' ? 'red' : 'gray'}
      loading={resume.isPending}
      onClick={() => resume.mutate({ id, stepId: step.id }, { onError: notifyFailure })}
    >
      <IconReload size={15} aria-hidden />
    </IconButton>
  );
}

/** Continues a truncated answer while nothing is running. */
export function ContinueStep({ analysis: { id, state }, step }: { analysis: Analysis; step: Step }) {
  const { t } = useTranslation(['chat', 'common']);
  const resume = useAction('analysis.resume');
  if (state === 'running' || state === 'waiting' || !mayContinue({ ...step, thinking: null })) return null;
  return (
    <Button
      size="compact-sm"
      variant="light"
      mt={6}
      loading={resume.isPending}
      onClick={() => resume.mutate({ id, stepId: step.id, goOn: true }, { onError: notifyFailure })}
    >
      {t('common:action.continue')}
    </Button>
  );
}
