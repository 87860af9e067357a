import { Button, Group, NumberInput, Select, Stack, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import type { DocumentAnalysis } from '../../../src-shared/contract/analysis.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { Form } from '../../ui/Form.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { Plan } from './Plan.tsx';
import { useDocumentChoices } from './useDocumentChoices.ts';

const PRESETS = ['summary', 'duties', 'open'] as const;
const TYPING_MS = 300;

/** Form for a document analysis: document, instruction, windows, and the resulting plan. */
export function DocumentForm({
  documentId: first,
  instruction: suggested,
}: {
  documentId: string | undefined;
  instruction: string;
}) {
  const { t } = useTranslation('analysis');
  const [, navigate] = useLocation();
  const [documentId, setDocumentId] = useState(first);
  const [instruction, setInstruction] = useState(suggested);
  const [size, setSize] = useState<number>();
  const [overlap, setOverlap] = useState<number>();
  const start = useAction('analysis.document');
  const request: DocumentAnalysis | undefined =
    documentId === undefined || instruction.trim() === ''
      ? undefined
      : {
          documentId,
          instruction: instruction.trim(),
          ...(size !== undefined && { size }),
          ...(overlap !== undefined && { overlap }),
        };
  const [planned] = useDebouncedValue(request, TYPING_MS);
  const submit = (): void => {
    if (!request || start.isPending) return;
    start.mutate(request, {
      onSuccess: ({ id }) => navigate(`/analysis/${id}`),
      onError: notifyFailure,
    });
  };
  return (
    <Form gap={16} w="100%" onSubmit={submit}>
      <DocumentChoice value={documentId} onChange={setDocumentId} />
      <Stack gap={8}>
        <Textarea
          label={t('form.instruction')}
          placeholder={t('form.instructionPlaceholder')}
          autosize
          minRows={3}
          maxRows={12}
          maxLength={20_000}
          value={instruction}
          onChange={(event) => setInstruction(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          }}
        />
        <Group gap={6} role="group" aria-label={t('form.presets')}>
          {PRESETS.map((preset) => (
            <Button
              key={preset}
              size="compact-sm"
              variant="default"
              onClick={() => setInstruction(t(`preset.${preset}Text`))}
            >
              {t(`preset.${preset}`)}
            </Button>
          ))}
        </Group>
      </Stack>
      <Group gap="md" align="end">
        <Count label={t('form.size')} least={1} value={size} onChange={setSize} />
        <Count label={t('form.overlap')} least={0} value={overlap} onChange={setOverlap} />
      </Group>
      {planned && <Plan request={planned} />}
      <Group>
        <Button
          type="submit"
          disabled={!request}
          loading={start.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          {t('new.start')}
        </Button>
      </Group>
    </Form>
  );
}

function DocumentChoice({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const { t } = useTranslation(['analysis', 'common']);
  const { data: chosen } = useCall('documents.get', { id: value ?? '' }, { enabled: value !== undefined });
  const { choices, search, setSearch, setOpen } = useDocumentChoices(chosen);
  return (
    <Select
      label={t('common:table.document')}
      placeholder={t('form.choose')}
      data={choices}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      filter={({ options }) => options} // The core has already searched, also by path.
      onDropdownOpen={() => setOpen(true)}
      nothingFoundMessage={t('common:noDocument')}
      maxDropdownHeight={320}
      clearable
    />
  );
}

function Count({
  label,
  least,
  value,
  onChange,
}: {
  label: string;
  least: number;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}) {
  const { t } = useTranslation('analysis');
  return (
    <NumberInput
      label={label}
      placeholder={t('form.auto')}
      w={170}
      min={least}
      max={9999}
      allowDecimal={false}
      value={value ?? ''}
      onChange={(next) => onChange(typeof next === 'number' && next >= least ? next : undefined)}
    />
  );
}
