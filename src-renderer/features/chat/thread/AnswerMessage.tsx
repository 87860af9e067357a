import { Text, VisuallyHidden } from '@mantine/core';
import { IconPrinter, IconQuote, IconRefresh } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { mayContinue, type Message } from '../../../../src-shared/contract/chat.ts';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { sourceList } from '../../../../src-shared/source-list.ts';
import { MarkdownBlocks } from '../../../ui/markdown/Markdown.tsx';
import { lex } from '../../../ui/markdown/tokens.ts';
import { print } from '../../../ui/print.ts';
import { AnswerEnding } from '../answer/AnswerEnding.tsx';
import { AnswerFailure } from '../answer/AnswerFailure.tsx';
import { AnswerFoot } from '../answer/AnswerFoot.tsx';
import { AnswerPhase, ReadingResult } from '../answer/AnswerPhase.tsx';
import { AnswerText } from '../answer/AnswerText.tsx';
import { Notices } from '../answer/Notices.tsx';
import { Thinking } from '../answer/Thinking.tsx';
import { useSourceWords } from '../answer/useSourceWords.ts';
import { argumentLine, copyText, isReadingResult } from '../calls/call-views.ts';
import { Calls } from '../calls/Calls.tsx';
import { useToolTitle } from '../calls/useTool.ts';
import { toggleReport, useChatState } from '../chat-state.ts';
import { current, isUnfinished } from '../live/live-answers.ts';
import { useLiveAnswer } from '../live/live-store.ts';
import type { AskActions } from '../useAsk.ts';
import { BranchSwitch } from './BranchSwitch.tsx';
import { CopyAction } from './CopyAction.tsx';
import { IconAction } from './IconAction.tsx';
import type { ShownMessage } from './tree.ts';
import classes from './Thread.module.css';

interface AnswerMessageProps {
  shown: ShownMessage;
  /** That it answers. */
  question: string;
  conversationId: string;
  /** An answer is being generated: no other can be started. */
  busy: boolean;
  asking: AskActions;
  onSelect: (id: string) => void;
}

/** An answer in any state: notices, phase, text, sources, statistics. */
export function AnswerMessage({
  shown,
  question,
  conversationId,
  busy,
  asking,
  onSelect,
}: AnswerMessageProps) {
  const { t } = useTranslation(['chat', 'common']);
  const { message: kept, siblings } = shown;
  const live = useLiveAnswer(kept.id);
  const message = current(kept, live);
  const working = isUnfinished(message);
  const article = useRef<HTMLElement>(null);
  const sourceWords = useSourceWords();
  const citedCopy = useCitedCopy();
  const reportOpen = useChatState((state) => state.report?.answerId === kept.id);
  return (
    <article
      ref={article}
      className={classes.answer}
      aria-label={t('common:appName')}
      aria-busy={working}
      data-message={kept.id}
      tabIndex={-1}
    >
      <VisuallyHidden component="h2">{t('common:appName')}</VisuallyHidden>
      <Notices notices={message.notices} analysis={analysisOf(message, question)} />
      {working && message.state !== 'streaming' && <AnswerPhase message={message} live={live} />}
      {message.thinking && <Thinking thinking={message.thinking} inWork={working && message.text === ''} />}
      {(message.text !== '' || message.calls.length > 0) && (
        <AnswerText
          text={message.text}
          calls={message.calls}
          live={live && isUnfinished(kept) ? live.split : undefined}
          sentences={live && isUnfinished(kept) ? live.sentences : message.stats?.sentences}
          citations={message.citations}
          unsupported={working ? undefined : message.stats?.unsupported}
          renderCalls={(calls) => (
            <Calls
              calls={calls}
              onDecide={(callId, decision) => asking.decide({ answerId: kept.id, callId, decision })}
            />
          )}
        />
      )}
      {working && isReadingResult(message) && <ReadingResult />}
      {!working && <AnswerOutcome message={message} asking={busy ? undefined : asking} />}
      {message.citations.length > 0 && (
        <div data-on="print">
          <MarkdownBlocks blocks={lex(sourceList(message.citations, sourceWords)).blocks} />
        </div>
      )}
      <AnswerFoot
        message={message}
        reportOpen={reportOpen}
        onReport={() => toggleReport(conversationId, kept.id)}
        actions={
          !working && (
            <div className={classes.actions}>
              <BranchSwitch message={kept} siblings={siblings} onSelect={onSelect} />
              {message.text !== '' && <CopyAction text={copyText(message)} label={t('message.copy')} />}
              {message.text !== '' && message.citations.length + message.calls.length > 0 && (
                <CopyAction
                  text={citedCopy(message)}
                  label={t('message.copyCited')}
                  icon={<IconQuote size={16} />}
                />
              )}
              {message.text !== '' && (
                <IconAction
                  label={t('message.print')}
                  icon={<IconPrinter size={16} />}
                  onClick={() => article.current && print(article.current)}
                />
              )}
              <IconAction
                label={t('message.regenerate')}
                icon={<IconRefresh size={16} />}
                disabled={busy}
                onClick={() => void asking.regenerate(message)}
              />
            </div>
          )
        }
      />
    </article>
  );
}

/** An answer with its calls, numbers of sources after its sentences, and the list of sources, as Markdown. */
function useCitedCopy(): (message: Message) => string {
  const sourceWords = useSourceWords();
  const titleOf = useToolTitle();
  const lineOf = (call: ToolCall): string => `> ${titleOf(call)}: ${argumentLine(call.arguments)}`;
  return (message) => {
    const answer = copyText(message, message.stats?.sentences, lineOf);
    const { citations } = message;
    return citations.length === 0 ? answer : `${answer}\n\n${sourceList(citations, sourceWords)}`;
  };
}

/** An analysis of the document that the answer is about, with the question as instruction; undefined: it is about several. */
function analysisOf({ citations }: Message, question: string): string | undefined {
  const [id, ...others] = new Set(citations.map(({ documentId }) => documentId));
  if (!id || others.length > 0) return undefined;
  return `/analysis/new?${new URLSearchParams({ document: id, instruction: question }).toString()}`;
}

/** Why a finished answer is empty, incomplete or missing, and what can be done. */
function AnswerOutcome({ message, asking }: { message: Message; asking: AskActions | undefined }) {
  const { t } = useTranslation('chat');
  return (
    <>
      {message.state === 'done' && message.text === '' && !mayContinue(message) && (
        <Text c="dimmed">{t('message.empty')}</Text>
      )}
      <AnswerEnding
        message={message}
        onContinue={asking && (() => void asking.goOn(message))}
        onVary={asking && (() => void asking.regenerate(message, { variety: true }))}
      />
      {message.failure && (
        <AnswerFailure
          failure={message.failure}
          kept={message.state !== 'failed'}
          onRegenerate={asking && ((mayGuess = false) => void asking.regenerate(message, { mayGuess }))}
        />
      )}
    </>
  );
}
