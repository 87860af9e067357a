import { Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Project, ProjectFields } from '../../../../src-shared/contract/projects.ts';
import { useAction, useCall } from '../../../client/context.tsx';
import { DialogForm } from '../../../ui/DialogForm.tsx';
import { NO_OPTIONS } from '../chat-state.ts';
import { OptionsForm } from '../composer/OptionsForm.tsx';
import { ToolsForm } from '../composer/ToolsForm.tsx';

const EMPTY: ProjectFields = { name: '', instructions: '', modelId: null, options: NO_OPTIONS };

/** What a project's conversations have in common. */
export function ProjectForm({
  project,
  onDone,
}: {
  /** Absent: create one. */
  project: Project | undefined;
  /** Called without a project on cancel. */
  onDone: (saved?: Project) => void;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const { data: models = [] } = useCall('models.list');
  const [fields, setFields] = useState<ProjectFields>(project ?? EMPTY);
  const create = useAction('projects.create');
  const change = useAction('projects.change');
  const submit = (): void => {
    if (project) change.mutate({ ...fields, id: project.id }, { onSuccess: onDone });
    else create.mutate(fields, { onSuccess: onDone });
  };
  const choices = models.filter(({ role, unsupportedReason }) => role === 'chat' && unsupportedReason === '');
  return (
    <DialogForm
      action={project ? change : create}
      disabled={fields.name.trim() === ''}
      onSubmit={submit}
      onCancel={() => onDone()}
    >
      <TextInput
        data-autofocus
        label={t('common:name')}
        maxLength={200}
        value={fields.name}
        onChange={({ currentTarget: { value: name } }) => setFields({ ...fields, name })}
      />
      <Textarea
        label={t('projects.instructions')}
        description={t('projects.instructionsHelp')}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={16_384}
        value={fields.instructions}
        onChange={({ currentTarget: { value: instructions } }) => setFields({ ...fields, instructions })}
      />
      <Select
        label={t('projects.model')}
        placeholder={t('projects.anyModel')}
        data={choices.map(({ id, name }) => ({ value: id, label: name }))}
        value={fields.modelId}
        clearable
        comboboxProps={{ withinPortal: false }}
        onChange={(modelId) => setFields({ ...fields, modelId })}
      />
      <OptionsForm
        title={t('projects.options')}
        options={fields.options}
        onChange={(options) => setFields({ ...fields, options })}
      />
      <ToolsForm
        title={t('tools.ofProject')}
        options={fields.options}
        onChange={(options) => setFields({ ...fields, options })}
      />
    </DialogForm>
  );
}
