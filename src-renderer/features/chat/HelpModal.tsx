import { Kbd, Modal, Table, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useChatState } from './chat-state.ts';
import { KEYS } from './keys.ts';

const SHORTCUTS = [
  ['palette', KEYS.palette],
  ['new', KEYS.new],
  ['focus', KEYS.focus],
  ['search', KEYS.search],
  ['sidebar', KEYS.sidebar],
  ['report', KEYS.report],
  ['print', KEYS.print],
  ['stop', KEYS.stop],
  ['editLast', KEYS.editLast],
  ['rename', KEYS.rename],
  ['help', KEYS.help],
] as const;

const TERMS = [
  'ttft',
  'reused',
  'recomputed',
  'computed',
  'resident',
  'chunks',
  'speed',
  'drafts',
  'strategy',
] as const;
/** All shortcuts of the chat, and the terms used below an answer. */
export function HelpModal() {
  const { t } = useTranslation(['chat', 'common']);
  const opened = useChatState((state) => state.helpOpen);
  return (
    <Modal
      opened={opened}
      onClose={() => useChatState.setState({ helpOpen: false })}
      title={t('help.title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common:action.close') }}
    >
      <Title order={3} size="h6" mb={4}>
        {t('help.shortcuts')}
      </Title>
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {SHORTCUTS.map(([name, keys]) => (
            <Table.Tr key={name}>
              <Table.Td>{t(`help.${name}`)}</Table.Td>
              <Table.Td ta="end">
                <Kbd>{keys}</Kbd>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Title order={3} size="h6" mt="lg" mb={4}>
        {t('help.terms')}
      </Title>
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {TERMS.map((term) => (
            <Table.Tr key={term}>
              <Table.Td fw={500} w={190} valign="top">
                {t(`termName.${term}`)}
              </Table.Td>
              <Table.Td>{t(`term.${term}`)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
