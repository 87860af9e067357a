import { Alert, Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { useCall } from '../../../client/context.tsx';
import { useActivate } from '../../../ui/useActivate.ts';

/** Offers to switch to the model of a conversation's project while another one is in use. */
export function ProjectModel({ project }: { project: Project }) {
  const { data: models = [] } = useCall('models.list');
  const model = models.find(({ id }) => id === project.modelId);
  const usable = model && model.unsupportedReason === '' && !['missing', 'loading'].includes(model.state);
  if (!usable || model.active) return null;
  return <Offer name={project.name} model={model} />;
}

function Offer({ name, model }: { name: string; model: ModelEntry }) {
  const { t } = useTranslation('chat');
  const { activate, busy } = useActivate(model);
  return (
    <Alert mx="md" my="xs" py={6} role="note" data-on="screen">
      <Group justify="space-between" wrap="nowrap">
        <Text>{t('projects.otherModel', { name, model: model.name })}</Text>
        <Button size="compact-sm" variant="light" loading={busy} onClick={() => void activate()}>
          {t('projects.switch')}
        </Button>
      </Group>
    </Alert>
  );
}
