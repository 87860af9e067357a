import { useTranslation } from 'react-i18next';
import type { LibraryInfo } from '../../../../src-shared/contract/libraries.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { useClient } from '../../../client/context.tsx';
import { askToConfirm } from '../../../ui/confirm.tsx';
import { openDialog } from '../../../ui/dialog.ts';
import { chosenFiles, filesBelow, type DropEntries } from '../../../ui/dropped-files.ts';
import { notifyFailure, notifyInfo } from '../../../ui/notify.tsx';
import { useUpload } from '../../../ui/useUpload.ts';
import { ProjectForm } from './ProjectForm.tsx';

/** Actions on projects. `start` begins a conversation in one. Failures are shown as notifications. */
export function useProjectActions(start: (project: Project) => void) {
  const { t } = useTranslation(['chat', 'common']);
  const client = useClient();
  const upload = useUpload();
  const attempt = (work: () => Promise<unknown>): void => {
    work().catch(notifyFailure);
  };
  const openForm = (project?: Project): void => {
    openDialog(
      t(project ? 'projects.edit' : 'projects.create'),
      (close) => (
        <ProjectForm
          project={project}
          onDone={(saved) => {
            close();
            if (saved && !project) start(saved);
          }}
        />
      ),
      'lg',
    );
  };
  /** A library of a folder's files, and a project about it. `add` fills the library. */
  const ofFolder = (name: string, add: (library: LibraryInfo) => Promise<unknown>): void =>
    attempt(async () => {
      const library = await client.call('libraries.create', { name });
      const options = { scope: { libraryIds: [library.id] } };
      start(await client.call('projects.create', { name, options }));
      await add(library);
    });
  const ofPaths = (paths: string[]): void => {
    const [name] = paths[0]?.split(/[\\/]/).slice(-1) ?? [];
    if (name) ofFolder(name, ({ id }) => client.call('libraries.addPaths', { id, paths }));
  };

  return {
    start,
    create: () => openForm(),
    edit: (project: Project) => openForm(project),
    remove: (project: Project) => {
      const { id, name } = project;
      askToConfirm({
        title: t('projects.remove', { name }),
        text: [t('projects.removeText')],
        confirm: t('common:action.delete'),
        danger: true,
        onConfirm: () => attempt(() => client.call('projects.delete', { id })),
      });
    },
    move: (id: string, projectId: string | null) =>
      attempt(() => client.call('chat.move', { id, projectId })),
    /** A project with the sources and options of a conversation, which is moved into it. */
    createFrom: (id: string, title: string) =>
      attempt(async () => {
        const { options } = await client.call('chat.get', { id });
        const name = title === '' ? t('thread.untitled') : title;
        const project = await client.call('projects.create', { name, options });
        await client.call('chat.move', { id, projectId: project.id });
        openForm(project);
      }),
    /** Takes the sources and options of a conversation over into its project. */
    adopt: (project: Project, id: string) =>
      attempt(async () => {
        const { options } = await client.call('chat.get', { id });
        await client.call('projects.change', { ...project, options });
        notifyInfo(t('projects.adopted', { name: project.name }));
      }),
    choose: () =>
      attempt(async () => ofPaths((await client.call('app.choosePaths', { kind: 'folder' })).paths)),
    /** Files of a folder chosen in the browser. */
    take: (files: readonly File[]) => {
      const found = chosenFiles(files);
      const name = found[0]?.path.split('/')[0];
      if (name !== undefined) ofFolder(name, (library) => upload(library, found));
    },
    /** Must be called during the drop event. */
    drop: ({ files, entries }: DropEntries) => {
      const folders = entries.filter(({ isDirectory }) => isDirectory);
      const name = folders[0]?.name;
      if (name === undefined) notifyInfo(t('projects.onlyFolders'));
      else if (client.uploads) ofFolder(name, (library) => upload(library, filesBelow(folders)));
      else {
        const dropped = files.filter((file) => folders.some((folder) => folder.name === file.name));
        ofPaths(dropped.flatMap((file) => client.pathOf(file) ?? []));
      }
    },
  };
}

export type ProjectActions = ReturnType<typeof useProjectActions>;
