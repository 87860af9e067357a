import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import type { ServerFacts } from '../../../../src-shared/contract/servers.ts';
import { useAction } from '../../../client/context.tsx';
import { DialogForm } from '../../../ui/DialogForm.tsx';
import { openDialog } from '../../../ui/dialog.ts';
import { choicesOf, ServerFields, type EnteredChoices } from './ServerFields.tsx';

/** Dialog for the request settings of a remote model. */
export function useServerSettings({ name, server }: ModelEntry): () => void {
  const { t } = useTranslation('servers');
  return () => {
    if (!server) return;
    openDialog(
      t('settings.title', { name }),
      (close) => <SettingsForm server={server} onDone={close} />,
      'lg',
    );
  };
}

function SettingsForm({ server, onDone }: { server: ServerFacts; onDone: () => void }) {
  const { address, model, contextTokens, waitSeconds, separator } = server;
  const now: EnteredChoices = { context: contextTokens ?? '', wait: waitSeconds, separator };
  const [entered, setEntered] = useState(now);
  // Same address and model name, so it stays the same model: its display name and key are kept.
  const change = useAction('models.addServer');
  return (
    <DialogForm
      action={change}
      onSubmit={() => change.mutate({ address, model, ...choicesOf(entered, null) }, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <ServerFields entered={entered} told={null} onChange={setEntered} />
    </DialogForm>
  );
}
