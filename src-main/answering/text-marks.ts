import type { Model } from '../engine/engine.ts';
import { messagesFrame } from './template.ts';

/** <|im_end|>, <end_of_turn>, </s>. Many models without tokens for them were trained with [INST] and ### User: as plain text. */
const MARK = /<[^<>\s]{1,64}>/g;

interface TemplateModel extends Pick<Model, 'tokenize'> {
  info: Pick<Model['info'], 'chatTemplate' | 'bosText' | 'eosText'>;
}

/**
 * The control marks between an answer and the next question that the vocabulary lacks, so that the model reads them as text. None where
 * the mark that ends the answer is a token: Zephyr, TinyLlama and others were trained with marks such as <|user|> as plain text.
 */
export function textMarksOf(model: TemplateModel): string[] {
  const { texts, plainBecause } = messagesFrame(model.info, [
    { role: 'user' },
    { role: 'assistant' },
    { role: 'user' },
  ]);
  const marks = plainBecause === undefined ? [...new Set(texts[2]?.match(MARK))] : [];
  const isToken = (mark: string): boolean => model.tokenize(mark, { special: true }).length === 1;
  const [end] = marks;
  return end === undefined || isToken(end) ? [] : marks.filter((mark) => !isToken(mark));
}
