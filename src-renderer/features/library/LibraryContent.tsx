import { ActionIcon, Badge, Menu, Tabs, Text, Title } from '@mantine/core';
import { IconDots, IconMessageQuestion, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { useAction } from '../../client/context.tsx';
import { askAddress } from '../../ui/ask-address.ts';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { PrecomputePlan } from '../../ui/PrecomputePlan.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { DocumentsPanel } from './DocumentsPanel.tsx';
import { EmbeddingHint } from './EmbeddingHint.tsx';
import { SourcesPanel } from './SourcesPanel.tsx';
import type { AddDocuments } from './useAddDocuments.ts';
import type { LibraryDialogs } from './useLibraryDialogs.tsx';
import classes from './Library.module.css';

/** One library: its documents and its sources. */
export function LibraryContent({
  library,
  add,
  dialogs,
}: {
  library: LibraryInfo;
  add: AddDocuments;
  dialogs: LibraryDialogs;
}) {
  const { t } = useTranslation(['library', 'common']);
  const broken = library.roots.filter(({ failure }) => failure !== null).length;
  return (
    <Tabs defaultValue="documents" className={classes.tabs} keepMounted={false}>
      <div className={classes.contentHead}>
        <div className={classes.titles}>
          <Title order={2} size="h4" className={classes.libraryName} title={library.name}>
            {library.name}
          </Title>
          <Summary library={library} />
        </div>
        <Tabs.List className={classes.tabList}>
          <Tabs.Tab value="documents">{t('tabs.documents')}</Tabs.Tab>
          <Tabs.Tab
            value="sources"
            rightSection={
              broken > 0 ? (
                <Badge variant="filled" size="xs" color="red" circle>
                  {broken}
                </Badge>
              ) : undefined
            }
          >
            {t('tabs.sources')}
          </Tabs.Tab>
        </Tabs.List>
        <LibraryMenu library={library} dialogs={dialogs} />
      </div>
      <EmbeddingHint library={library} />
      <PrecomputePlan />
      <Tabs.Panel value="documents" className={classes.panel}>
        <DocumentsPanel library={library} add={add} />
      </Tabs.Panel>
      <Tabs.Panel value="sources" className={classes.panel}>
        <SourcesPanel library={library} />
      </Tabs.Panel>
    </Tabs>
  );
}

function Summary({ library }: { library: LibraryInfo }) {
  const { t } = useTranslation();
  const format = useFormat();
  const parts = [
    t('unit.documents', { count: library.documents }),
    t('unit.passages', { count: library.chunks }),
    t('unit.tokens', { count: library.tokens }),
    format.bytes(library.cacheBytes),
  ];
  return (
    <Text c="dimmed" truncate>
      {parts.join(' · ')}
    </Text>
  );
}

function LibraryMenu({ library, dialogs }: { library: LibraryInfo; dialogs: LibraryDialogs }) {
  const { t } = useTranslation(['library', 'common']);
  const rescan = useAction('libraries.rescan');
  const look = (): void =>
    rescan.mutate(
      { id: library.id },
      { onSuccess: () => notifyInfo(t('add.rescanning')), onError: notifyFailure },
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon color="kvasir" size="lg" aria-label={`${t('common:action.more')}: ${library.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component={Link}
          href={askAddress({ libraryIds: [library.id] })}
          leftSection={<IconMessageQuestion size={16} />}
        >
          {t('list.ask')}
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} />} onClick={look}>
          {t('add.rescan')}
        </Menu.Item>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => dialogs.rename(library)}>
          {t('common:action.rename')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => dialogs.remove(library)}>
          {t('remove.confirm')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
