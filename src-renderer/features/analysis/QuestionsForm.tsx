import { Button, FileButton, Group, MultiSelect, Text, Textarea } from '@mantine/core';
import { IconFileImport, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useAction, useCall } from '../../client/context.tsx';
import { KvasirError } from '../../../src-shared/errors.ts';
import { Form } from '../../ui/Form.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { linesOf, readQuestions } from './question-lines.ts';

const MOST = 500;

/** Form for several questions, one per line, and the libraries to search. */
export function QuestionsForm() {
  const { t } = useTranslation(['analysis', 'search', 'common']);
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [libraryIds, setLibraryIds] = useState<string[]>([]);
  const { data: libraries = [] } = useCall('libraries.list');
  const start = useAction('analysis.questions');
  const questions = linesOf(text);
  const ready = questions.length > 0 && questions.length <= MOST;
  const submit = (): void => {
    if (!ready || start.isPending) return;
    start.mutate(
      { questions, scope: { libraryIds } },
      { onSuccess: ({ id }) => navigate(`/analysis/${id}`), onError: notifyFailure },
    );
  };
  const take = (file: File | null): void => {
    if (!file) return;
    readQuestions(file).then((lines) => {
      if (lines) setText([text.trimEnd(), ...lines].filter((line) => line !== '').join('\n'));
      else notifyFailure(new KvasirError('BAD_ARGUMENT', t('form.notText', { name: file.name })));
    }, notifyFailure);
  };
  return (
    <Form gap={16} w="100%" onSubmit={submit}>
      <Textarea
        label={t('form.questions')}
        description={t('form.questionsHelp')}
        placeholder={t('form.questionsPlaceholder')}
        autosize
        minRows={6}
        maxRows={18}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
        error={questions.length > MOST && t('form.tooMany', { most: MOST })}
      />
      <Group justify="space-between">
        <FileButton accept="text/*,.txt,.md,.csv" onChange={take}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              leftSection={<IconFileImport size={15} aria-hidden />}
            >
              {t('form.fromFile')}
            </Button>
          )}
        </FileButton>
        <Text c="dimmed" role="status">
          {t('list.questions', { count: questions.length })}
        </Text>
      </Group>
      <MultiSelect
        label={t('search:libraries')}
        placeholder={libraryIds.length === 0 ? t('common:allLibraries') : ''}
        data={libraries.map(({ id, name }) => ({ value: id, label: name }))}
        value={libraryIds}
        onChange={setLibraryIds}
        clearable
      />
      <Group>
        <Button
          type="submit"
          disabled={!ready}
          loading={start.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          {t('new.start')}
        </Button>
      </Group>
    </Form>
  );
}
