import { Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Citation, CitedSentence } from '../../../../src-shared/contract/chat.ts';
import type { Range } from '../../../../src-shared/contract/common.ts';
import { SentenceMarks } from '../../../ui/markdown/Inline.tsx';
import { MarkdownBlocks } from '../../../ui/markdown/Markdown.tsx';
import { TextMarks } from '../../../ui/markdown/MarkedText.tsx';
import type { BlockSplit } from '../../../ui/markdown/split.ts';
import { citeMark, lex } from '../../../ui/markdown/tokens.ts';
import { SentenceSources } from './SentenceSources.tsx';
import classes from './Answer.module.css';

/**
 * An answer's text: from the parsed blocks while it is written, from the whole text afterwards. Each sentence ends with
 * its sources, or a mark where no passage says it. Afterwards names, numbers and dates that no passage contains are
 * marked and counted.
 */
export function AnswerText({
  text,
  live,
  sentences = NO_SENTENCES,
  citations,
  unsupported = NONE,
}: {
  text: string;
  live?: BlockSplit | undefined;
  /** Of the blocks, or of the text. */
  sentences?: readonly CitedSentence[] | undefined;
  citations: readonly Citation[];
  unsupported?: readonly Range[] | undefined;
}) {
  const { t } = useTranslation('chat');
  const whole = useMemo(() => (live ? [] : lex(withMarks(text, sentences)).blocks), [text, live, sentences]);
  const marks = useMemo(() => {
    const words = live ? [] : unsupported.map(({ start, end }) => text.slice(start, end));
    return { words: [...new Set(words)], why: t('message.unsupported') };
  }, [text, live, unsupported, t]);
  const mark = useCallback(
    (index: number) => <SentenceSources sentence={sentences[index]} citations={citations} />,
    [sentences, citations],
  );
  return (
    <div className={live ? classes.writing : undefined}>
      <SentenceMarks value={mark}>
        <TextMarks value={marks}>
          <MarkdownBlocks blocks={live ? [...live.finished, ...live.open] : whole} />
        </TextMarks>
      </SentenceMarks>
      {marks.words.length > 0 && (
        <Text c="dimmed" size="sm" mt={6} role="note">
          {t('message.unsupportedCount', { count: marks.words.length })}
        </Text>
      )}
    </div>
  );
}

const NONE: readonly Range[] = [];
const NO_SENTENCES: readonly CitedSentence[] = [];

function withMarks(text: string, sentences: readonly CitedSentence[]): string {
  let [marked, from] = ['', 0];
  for (const [index, { end }] of sentences.entries()) {
    marked += text.slice(from, end) + citeMark(index);
    from = end;
  }
  return marked + text.slice(from);
}
