import { SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';
import { DocumentForm } from './DocumentForm.tsx';
import { QuestionsForm } from './QuestionsForm.tsx';

type Kind = 'document' | 'questions';

export function NewAnalysis({
  kind: first,
  documentId,
  instruction,
}: {
  kind: Kind;
  documentId: string | undefined;
  instruction: string;
}) {
  const { t } = useTranslation('analysis');
  const [kind, setKind] = useState<Kind>(first);
  return (
    <Page title={t('new.title')} subtitle={t('subtitle')}>
      <Stack align="flex-start" gap={18} maw="44rem">
        <SegmentedControl<Kind>
          aria-label={t('new.kind')}
          data={(['document', 'questions'] as const).map((value) => ({ value, label: t(`new.${value}`) }))}
          value={kind}
          onChange={setKind}
        />
        {kind === 'document' ? (
          <DocumentForm documentId={documentId} instruction={instruction} />
        ) : (
          <QuestionsForm />
        )}
      </Stack>
    </Page>
  );
}
