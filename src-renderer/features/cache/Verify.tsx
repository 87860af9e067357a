import { Button, List, Progress, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { VerifyResult } from '../../../src-shared/contract/cache.ts';
import { useAction, useEvent } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { Section } from './Section.tsx';

/** Verifies every stored file, and shows progress and the result. */
export function Verify() {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const verify = useAction('cache.verify');
  const [progress, setProgress] = useState({ done: 0, total: 0 });
  useEvent('cache.progress', setProgress);
  const start = (): void => {
    setProgress({ done: 0, total: 0 });
    verify.mutate({});
  };
  return (
    <Section title={t('verify.title')}>
      {verify.data ? <Result result={verify.data} /> : <Text c="dimmed">{t('verify.text')}</Text>}
      {verify.isPending ? (
        <div role="status">
          <Progress
            size="sm"
            value={progress.total > 0 ? (progress.done / progress.total) * 100 : 0}
            aria-label={t('verify.title')}
          />
          <Subtext mt={4}>
            {t('verify.running', {
              done: format.number(progress.done),
              total: format.number(progress.total),
            })}
          </Subtext>
        </div>
      ) : (
        <Button size="compact-sm" variant="default" w="fit-content" onClick={start}>
          {t('verify.run')}
        </Button>
      )}
      {verify.error && <FailureAlert failure={verify.error} onRetry={start} />}
    </Section>
  );
}

function Result({ result }: { result: VerifyResult }) {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const { checked, corrupt, missing, newerFormat, ms } = result;
  const problems = [
    corrupt.length > 0 && t('verify.bad', { count: corrupt.length }),
    missing.length > 0 && t('verify.missing', { count: missing.length }),
    newerFormat.length > 0 && t('verify.newer', { count: newerFormat.length }),
  ].filter((sentence) => sentence !== false);
  if (problems.length === 0) {
    return (
      <Text role="status">
        {t('verify.good', {
          chunks: t('common:unit.chunks', { count: checked }),
          time: format.duration(ms),
        })}
      </Text>
    );
  }
  return (
    <List size="sm" role="status" title={corrupt.map(({ key, reason }) => `${key}: ${reason}`).join('\n')}>
      {problems.map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  );
}
