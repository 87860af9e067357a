import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Analysis } from '../../../src-shared/contract/analysis.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { reuseOf } from './figures.ts';
import classes from './Analysis.module.css';

/** Total cost of the steps, and the work that sharing saved. */
export function SharedFigures({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation(['analysis', 'common']);
  const format = useFormat();
  const { sharing, workMs, steps } = analysis;
  const { tokens, reused } = reuseOf(steps);
  const { uses, chunks, residentUses: resident, memoryUses: memory, bytesSaved, bytesUsed } = sharing;
  return (
    <dl className={classes.figures} aria-label={t('shared.label')}>
      <Figure name={t('shared.work')} value={format.duration(workMs)} />
      <Figure name={t('shared.prompts')} value={t('common:unit.tokens', { count: tokens })} />
      <Figure
        name={t('shared.fromCache')}
        value={format.percent(tokens > 0 ? reused / tokens : 0)}
        help={t('shared.fromCacheHelp')}
      />
      <Figure
        name={t('shared.chunks')}
        value={t('shared.chunksValue', { uses, chunks })}
        help={t('shared.chunksHelp')}
      />
      <Figure
        name={t('shared.saved')}
        value={`${format.bytes(bytesSaved)} / ${format.bytes(bytesUsed)}`}
        help={t('shared.savedHelp', { resident, memory })}
      />
    </dl>
  );
}

function Figure({ name, value, help }: { name: string; value: string; help?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      {help === undefined ? (
        <dd>{value}</dd>
      ) : (
        <Tooltip label={help} multiline maw={300}>
          <dd tabIndex={0}>{value}</dd>
        </Tooltip>
      )}
    </div>
  );
}
