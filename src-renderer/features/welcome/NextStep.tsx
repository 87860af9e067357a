import { Button, Group, Paper, Text } from '@mantine/core';
import { IconCpu, IconFilePlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { useCall } from '../../client/context.tsx';

const useDismissed = create<{ dismissed: boolean }>()(
  persist((): { dismissed: boolean } => ({ dismissed: false }), { name: 'kvasir-next-step' }),
);

/** Shown below the first answer from the sample library: how to add your own documents. */
export default function NextStep() {
  const { t } = useTranslation('welcome');
  const { dismissed } = useDismissed();
  const { data: libraries } = useCall('libraries.list');
  const onlySample = libraries?.every((library) => library.sample || library.documents === 0) ?? false;
  if (dismissed || !onlySample) return null;
  return (
    <Paper withBorder p="md" mt="xl" radius="lg">
      <Text size="md" fw={600}>
        {t('next.title')}
      </Text>
      <Text c="dimmed" mt={2}>
        {t('next.text')}
      </Text>
      <Group gap="xs" mt="sm">
        <Button component={Link} href="/library" size="xs" leftSection={<IconFilePlus size={16} />}>
          {t('addDocuments')}
        </Button>
        <Button
          component={Link}
          href="/models"
          size="xs"
          variant="default"
          leftSection={<IconCpu size={16} />}
        >
          {t('importModel')}
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          onClick={() => useDismissed.setState({ dismissed: true })}
        >
          {t('next.dismiss')}
        </Button>
      </Group>
    </Paper>
  );
}
