import { lazy, Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { useClient, useEvent } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

const ChooseLibrary = lazy(() => import('./ChooseLibrary.tsx'));

/**
 * Handles files opened with Kvasir from outside: documents go to a library of the user's choice, models are imported. It listens from the
 * first moment, since the files that started the program are named as soon as the window asks for anything.
 */
export function OpenedFiles() {
  const client = useClient();
  const [, navigate] = useLocation();
  const [documents, setDocuments] = useState<string[]>([]);
  const importModels = async (paths: readonly string[]): Promise<void> => {
    for (const path of paths) await client.call('models.import', { path });
    navigate('/models');
  };
  useEvent('app.open', ({ paths }) => {
    const models = paths.filter(isModel);
    if (models.length > 0) importModels(models).catch(notifyFailure);
    setDocuments(paths.filter((path) => !isModel(path)));
  });
  if (documents.length === 0) return null;
  return (
    <Suspense fallback={null}>
      <ChooseLibrary paths={documents} onClose={() => setDocuments([])} />
    </Suspense>
  );
}

function isModel(path: string): boolean {
  return path.toLowerCase().endsWith('.gguf');
}
