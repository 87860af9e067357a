import { ActionIcon, Group, Loader, Select, Stack, useComputedColorScheme } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../../src-shared/contract/common.ts';
import type { DocumentInfo } from '../../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../../client/context.tsx';
import { FailureAlert } from '../../../../ui/FailureAlert.tsx';
import { Subtext } from '../../../../ui/Subtext.tsx';
import { pageUrl } from './document-url.ts';
import classes from './Original.module.css';

/** A document as a page that the core built from it: in a frame that can neither run scripts nor load anything. */
export function FrameView({ document, passage }: { document: DocumentInfo; passage: Range | undefined }) {
  const { t } = useTranslation(['library', 'common']);
  const scheme = useComputedColorScheme('light');
  const [chosen, setChosen] = useState<number>();
  const query = { part: chosen, ...passage };
  const page = useCall('documents.page', { id: document.id, ...query }, { keepPrevious: true });
  if (page.error) return <FailureAlert failure={page.error} onRetry={() => void page.refetch()} />;
  if (!page.data) return <Loader m="auto" role="status" aria-label={t('common:loading')} />;
  const { parts, part, isMarked, isCut } = page.data;
  const notes = [
    ...(passage && !isMarked && chosen === undefined ? [t('original.notFound')] : []),
    ...(isCut ? [t('original.cut')] : []),
    t('original.rebuilt'),
  ];
  return (
    <Stack gap={8} flex={1} mih={0}>
      <Group justify="space-between" wrap="nowrap" gap="md">
        <Subtext role={passage && !isMarked ? 'status' : undefined}>{notes.join(' ')}</Subtext>
        {parts.length > 1 && <Parts parts={parts} part={part} onPart={setChosen} />}
      </Group>
      <iframe
        className={classes.frame}
        title={t('original.frame', { title: document.title })}
        sandbox=""
        src={pageUrl(document.id, { ...query, dark: scheme === 'dark' }, isMarked ? 'passage' : '')}
      />
    </Stack>
  );
}

function Parts({
  parts,
  part,
  onPart,
}: {
  parts: readonly string[];
  part: number;
  onPart: (part: number) => void;
}) {
  const { t } = useTranslation('library');
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t('original.previousPart')}
        disabled={part === 0}
        onClick={() => onPart(part - 1)}
      >
        <IconChevronLeft size={16} />
      </ActionIcon>
      <Select
        size="xs"
        w={240}
        searchable
        limit={200}
        allowDeselect={false}
        aria-label={t('original.part')}
        data={parts.map((label, index) => ({ value: String(index), label: `${index + 1}. ${label}` }))}
        value={String(part)}
        onChange={(value) => value !== null && onPart(Number(value))}
      />
      <ActionIcon
        variant="default"
        size={30}
        aria-label={t('original.nextPart')}
        disabled={part >= parts.length - 1}
        onClick={() => onPart(part + 1)}
      >
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  );
}
