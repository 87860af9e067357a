import { expect, test } from 'vitest';
import { questionAbout, topicsOf } from './topic-questions.ts';

test('a chunk is about its innermost heading, then what it names, the most often named first', () => {
  const text = 'The ferry to Oslo was late, so Mara Lind waited. At noon Mara Lind left. Then it rained.';
  expect(topicsOf({ title: 'Journal › Winter › The ferry', text })).toEqual([
    'The ferry',
    'Mara Lind',
    'Oslo',
  ]);
});

test('a word that only begins a sentence, a line or a text is no name', () => {
  expect(topicsOf({ title: 'Notes', text: 'Nobody came. Everybody left.\nSomebody stayed.' })).toEqual([
    'Notes',
  ]);
});

test('in Chinese, titles and quoted names; and the question is Chinese', () => {
  const text = '他在图书馆读《红楼梦》，又借了《西游记》，最喜欢的还是《红楼梦》。';
  expect(topicsOf({ title: '读书笔记', text })).toEqual(['读书笔记', '红楼梦', '西游记']);
  expect(questionAbout('红楼梦', { text })).toEqual({
    topic: '红楼梦',
    question: '文档中关于“红楼梦”说了些什么？',
  });
});

test('a heading as long as a sentence is not asked about, nor is an empty one', () => {
  expect(topicsOf({ title: `Notes › ${'long '.repeat(30)}`, text: 'nothing' })).toEqual([]);
  expect(topicsOf({ title: '', text: 'We met in Riga.' })).toEqual(['Riga']);
});

test('an English question names the topic', () => {
  expect(questionAbout('Mara Lind', { text: 'Mara Lind waited.' }).question).toBe(
    'What do the documents say about Mara Lind?',
  );
});
