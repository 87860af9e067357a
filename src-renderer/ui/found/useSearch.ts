import type { FoundModel } from '../../../src-shared/contract/found-models.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { notifyFailure } from '../notify.tsx';

/** The known models of other apps on this machine, and the search for them. */
export function useSearch() {
  const { data: found } = useCall('models.found');
  const { mutateAsync } = useAction('models.search');

  /** Whether it succeeded. */
  async function search(folders: string[] = []): Promise<boolean> {
    try {
      await mutateAsync({ folders });
      return true;
    } catch (error) {
      notifyFailure(error);
      return false;
    }
  }

  const models = found?.models ?? [];
  return {
    found,
    searching: found?.state === 'searching',
    usable: models.filter(isUsable),
    unusable: models.filter((model) => !isUsable(model)),
    search,
  };
}

function isUsable({ header }: FoundModel): boolean {
  return header !== null && header.unsupportedReason === '';
}
