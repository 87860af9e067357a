import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Citation, CitedSentence } from '../../../../src-shared/contract/chat.ts';
import { pageWords } from '../../../ui/page-words.ts';
import classes from './SentenceSources.module.css';

const EVENTS = { hover: true, focus: true, touch: true };

/**
 * The marks at the end of a sentence: the numbers of its passages, each of which shows the source sentence and opens the
 * document there; or a quiet mark where no passage says it.
 */
export function SentenceSources({
  sentence,
  citations,
}: {
  sentence: CitedSentence | undefined;
  citations: readonly Citation[];
}) {
  const { t } = useTranslation('chat');
  if (!sentence) return null;
  if (sentence.sources.length === 0)
    return (
      <Tooltip label={t('message.own')} events={EVENTS}>
        <span className={classes.own} tabIndex={0} role="img" aria-label={t('message.own')} />
      </Tooltip>
    );
  return sentence.sources.map((source) => {
    const citation = citations[source.citation];
    return (
      citation && (
        <SourceMark key={`${source.citation} ${source.start}`} citation={citation} source={source} />
      )
    );
  });
}

function SourceMark({ citation, source }: { citation: Citation; source: CitedSentence['sources'][number] }) {
  const { t } = useTranslation('chat');
  const { documentId, path, page, text, start } = citation;
  const number = source.citation + 1;
  const said = text.slice(source.start, source.end);
  const where = page === null ? path : `${path}, ${pageWords(page, (page) => t('sources.page', { page }))}`;
  const label = t('sources.sentence', { number, where });
  const shown = (
    <>
      <span className={classes.where}>{where}</span>
      <span className={classes.said}>{said}</span>
    </>
  );
  const href = `/document/${documentId}?start=${start + source.start}&end=${start + source.end}`;
  return (
    <Tooltip label={shown} events={EVENTS} multiline maw={420} openDelay={150}>
      {documentId === null ? (
        <span className={classes.mark} tabIndex={0} role="note" aria-label={label} aria-description={said}>
          {number}
        </span>
      ) : (
        <Link className={classes.mark} href={href} aria-label={label} aria-description={said}>
          {number}
        </Link>
      )}
    </Tooltip>
  );
}
