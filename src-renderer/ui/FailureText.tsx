import { useTranslation } from 'react-i18next';
import { failureWords, type ShownFailure } from '../i18n/failures.ts';
import { joinSentences } from '../i18n/join-sentences.ts';

/** A failure within a line that already names its subject. */
export function FailureText({ failure }: { failure: ShownFailure }) {
  const { i18n } = useTranslation();
  const { message, advice } = failureWords(failure, i18n.language);
  return joinSentences([message, advice]);
}
