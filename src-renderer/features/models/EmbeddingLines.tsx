import { Anchor, Code, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';

/** What an embedding model gets before texts, and whether it reads whole passages. */
export function EmbeddingLines({ model: { embedding } }: { model: ModelEntry }) {
  const { t } = useTranslation('models');
  if (!embedding) return null;
  const { question, passage, source, card, tokens, chunkTokens } = embedding;
  const bare = question === '' && passage === '';
  return (
    <>
      <Text {...(source === 'unknown' ? {} : { c: 'dimmed' })}>
        {t(bare && source !== 'unknown' ? 'prefixes.bare' : `prefixes.${source}`)}{' '}
        {question !== '' && <Prefix label={t('prefixes.question')} text={question} />}
        {passage !== '' && <Prefix label={t('prefixes.passage')} text={passage} />}
        {card !== null && (
          <Anchor href={card} target="_blank" rel="noopener noreferrer">
            {t('prefixes.link')}
          </Anchor>
        )}
      </Text>
      {chunkTokens !== null && chunkTokens > tokens && (
        <Text>{t('prefixes.short', { tokens, chunkTokens })}</Text>
      )}
    </>
  );
}

function Prefix({ label, text }: { label: string; text: string }) {
  return (
    <>
      {label} <Code style={{ whiteSpace: 'pre-wrap' }}>{text}</Code>{' '}
    </>
  );
}
