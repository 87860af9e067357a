import { Drawer, Loader, Stack, Table, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';

/** Metadata from a model's file. */
export function ModelDetails({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { t } = useTranslation(['models', 'servers', 'common']);
  const { data: detail, error } = useCall('models.detail', { id: id ?? '-' }, { enabled: id !== undefined });
  const tensors = Object.entries(detail?.tensorTypes ?? {}).map(([type, count]) => ({
    label: type,
    value: String(count),
  }));
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size="lg"
      title={detail?.model.name ?? t('common:action.details')}
    >
      {error && <FailureAlert failure={error} />}
      {!detail && !error && <Loader />}
      {detail && (
        <Stack>
          <Facts
            title={t('header')}
            facts={[
              ...detail.header,
              {
                label: t(detail.model.server ? 'servers:add.address' : 'facts.file'),
                value: detail.model.server?.address ?? detail.model.path,
              },
            ]}
          />
          {tensors.length > 0 && <Facts title={t('tensors')} facts={tensors} />}
        </Stack>
      )}
    </Drawer>
  );
}

function Facts({ title, facts }: { title: string; facts: readonly { label: string; value: string }[] }) {
  return (
    <section>
      <Title order={3} size="h6" mb="xs">
        {title}
      </Title>
      <Table withRowBorders>
        <Table.Tbody>
          {facts.map(({ label, value }) => (
            <Table.Tr key={label}>
              <Table.Th w={170}>{label}</Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
