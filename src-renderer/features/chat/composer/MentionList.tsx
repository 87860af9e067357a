import { IconBooks, IconFileText } from '@tabler/icons-react';
import { VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Mentions } from './useMentions.ts';
import classes from './MentionList.module.css';

/** Names to choose from, above the focused field. `id`: of the list; option ids start with it. */
export function MentionList({
  id,
  mentions: { offered, active, choose },
}: {
  id: string;
  mentions: Mentions;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const count = offered.length;
  return (
    <>
      <VisuallyHidden role="status">{count > 0 && t('mention.offered', { count })}</VisuallyHidden>
      {count > 0 && (
        <ul id={id} role="listbox" aria-label={t('mention.label')} className={classes.list}>
          {offered.map((one, index) => {
            const OptionIcon = one.kind === 'library' ? IconBooks : IconFileText;
            return (
              <li
                key={`${one.kind} ${one.id}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                className={classes.option}
                onMouseDown={(event) => {
                  event.preventDefault(); // keeps the focus in the field
                  choose(one);
                }}
              >
                <OptionIcon size={16} aria-hidden />
                <span className={classes.name}>{one.name}</span>
                <span className={classes.path}>
                  {one.kind === 'library' ? t('common:nav.library') : one.path}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
