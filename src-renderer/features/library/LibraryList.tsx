import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { IconButton } from '../../ui/IconButton.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import classes from './Library.module.css';

export function LibraryList({
  libraries,
  shown,
  onCreate,
}: {
  libraries: readonly LibraryInfo[] | undefined;
  shown: string | undefined;
  onCreate: () => void;
}) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <nav className={classes.list} aria-label={t('list.label')}>
      <div className={classes.listHead}>
        <span>{t('list.label')}</span>
        <IconButton label={t('list.create')} color="kvasir" size="sm" onClick={onCreate}>
          <IconPlus size={16} />
        </IconButton>
      </div>
      {libraries?.map((library) => (
        <LibraryLink key={library.id} library={library} shown={library.id === shown} />
      ))}
    </nav>
  );
}

function LibraryLink({ library, shown }: { library: LibraryInfo; shown: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const { id, name, documents, chunks, cachedChunks, failed, pending } = library;
  return (
    <Link
      href={`/library/${encodeURIComponent(id)}`}
      className={classes.link}
      aria-current={shown ? 'page' : undefined}
    >
      <span className={classes.linkName} title={name}>
        {name}
      </span>
      <span className={classes.linkText}>
        {t('common:unit.documents', { count: documents })}
        {failed > 0 && <span className={classes.failed}> · {t('list.failed', { count: failed })}</span>}
      </span>
      {pending > 0 && chunks > 0 && (
        <Meter
          share={cachedChunks / chunks}
          height={3}
          label={t('list.working', { cached: format.number(cachedChunks), total: format.number(chunks) })}
        />
      )}
    </Link>
  );
}
