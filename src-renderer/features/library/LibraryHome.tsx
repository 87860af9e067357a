import { Button, Loader } from '@mantine/core';
import { IconBooks, IconPlus } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import { useCommands } from '../../ui/commands.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { useFileDrop } from '../../ui/useFileDrop.ts';
import { AddButtons } from './AddButtons.tsx';
import { DropHint } from '../../ui/DropHint.tsx';
import { rememberLibrary, rememberedLibrary } from '../../ui/last-library.ts';
import { LibraryContent } from './LibraryContent.tsx';
import { LibraryList } from './LibraryList.tsx';
import { QueueBar } from './QueueBar.tsx';
import { UploadPanel } from './UploadPanel.tsx';
import { useAddDocuments } from './useAddDocuments.ts';
import { useLibraryDialogs } from './useLibraryDialogs.tsx';
import classes from './Library.module.css';

/** All libraries on the left, the selected one next to them; files can be dropped anywhere. */
export function LibraryHome({ id }: { id: string | undefined }) {
  const { t } = useTranslation(['library', 'common']);
  const { data: libraries, error, refetch } = useCall('libraries.list');
  const chosen = id ?? rememberedLibrary();
  const library = libraries?.find((one) => one.id === chosen) ?? libraries?.[0];
  const add = useAddDocuments(library);
  const dialogs = useLibraryDialogs();
  const { over, handlers } = useFileDrop(add.drop);
  useEffect(() => rememberLibrary(library?.id), [library?.id]);
  useCommands([
    { id: 'library-create', label: t('list.create'), run: dialogs.create },
    ...(library
      ? [
          { id: 'library-path', label: t('add.path'), run: add.askPath },
          { id: 'library-address', label: t('add.address'), run: add.askAddress },
        ]
      : []),
  ]);
  return (
    <div className={classes.screen} {...handlers}>
      <Page
        title={t('common:nav.library')}
        subtitle={t('subtitle')}
        actions={library && <AddButtons add={add} />}
        scroll={false}
      >
        <div className={classes.columns}>
          <LibraryList libraries={libraries} shown={library?.id} onCreate={dialogs.create} />
          <section className={classes.content} aria-label={library?.name ?? t('list.label')}>
            {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
            {!libraries && !error && <Loader className={classes.loader} aria-label={t('common:loading')} />}
            {libraries?.length === 0 && <NoLibrary onCreate={dialogs.create} />}
            {library && <LibraryContent key={library.id} library={library} add={add} dialogs={dialogs} />}
          </section>
        </div>
      </Page>
      <UploadPanel />
      <QueueBar />
      {over && library && <DropHint title={t('drop.title', { name: library.name })} text={t('drop.text')} />}
    </div>
  );
}

function NoLibrary({ onCreate }: { onCreate: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <EmptyState icon={<IconBooks size={30} />} title={t('list.none')} text={t('list.noneText')}>
      <Button leftSection={<IconPlus size={16} />} onClick={onCreate}>
        {t('list.create')}
      </Button>
    </EmptyState>
  );
}
