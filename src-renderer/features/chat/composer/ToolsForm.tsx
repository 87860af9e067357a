import { Checkbox, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../../client/context.tsx';
import { failureWords } from '../../../i18n/failures.ts';
import type { OptionsProps } from './OptionsForm.tsx';
import { OWN, toolChoices, withTools, type ToolChoice } from './tool-choice.ts';

/** Whose tools the answers may call. Nothing is chosen by default. */
export function ToolsForm({ title, options, onChange }: OptionsProps & { title: string }) {
  const { data } = useCall('tools.list');
  const titleId = useId();
  return (
    <Stack gap="sm" role="group" aria-labelledby={titleId}>
      <Text size="md" id={titleId} fw={600}>
        {title}
      </Text>
      <NoToolsNote />
      {toolChoices(options, data?.servers ?? []).map((choice) => (
        <Choice
          key={choice.id}
          choice={choice}
          onChange={(chosen) => onChange(withTools(options, choice.id, chosen))}
        />
      ))}
    </Stack>
  );
}

function Choice({ choice, onChange }: { choice: ToolChoice; onChange: (chosen: boolean) => void }) {
  const { t } = useTranslation(['chat', 'mcp']);
  const { id, name, chosen, server } = choice;
  const own = id === OWN;
  return (
    <Checkbox
      label={own ? t('mcp:own') : name}
      description={useDescription(choice)}
      checked={chosen}
      disabled={!own && !chosen && server?.enabled !== true}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

function useDescription({ id, server }: ToolChoice): string {
  const { t, i18n } = useTranslation('chat');
  if (id === OWN) return t('tools.ownHelp');
  if (!server) return t('tools.gone');
  if (!server.enabled) return t('tools.disabled');
  if (server.failure) return failureWords(server.failure, i18n.language).message;
  if (server.state === 'ready') return t('tools.count', { count: server.tools.length });
  return t(server.state === 'starting' ? 'tools.starting' : 'tools.later');
}

/** Says so where the model in use has no tools. */
function NoToolsNote() {
  const { t } = useTranslation('chat');
  const { data: takes } = useCall('chat.takesTools');
  const { data: models = [] } = useCall('models.list');
  const model = models.find(({ role, active }) => role === 'chat' && active);
  if (takes !== false || !model) return null;
  return <Text role="note">{t('tools.none', { model: model.name })}</Text>;
}
