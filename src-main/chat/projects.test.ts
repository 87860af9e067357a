import { expect, test, vi } from 'vitest';
import type { ProjectFields } from '../../src-shared/contract/projects.ts';
import { NEW, fixture } from '../testing/chat.ts';

const FIELDS: ProjectFields = {
  name: 'Bridges',
  instructions: 'Answer in one sentence.',
  modelId: '3',
  options: { scope: { libraryIds: ['1'], documentIds: [] }, topK: 2 },
};

test('a conversation starts with the options of its project, and its prompts with the instructions', async () => {
  const { chat, ask } = await fixture({ settings: { systemPrompt: 'Be kind.' } });
  const project = chat.createProject(FIELDS);
  const { id } = chat.create(undefined, project.id);
  expect(chat.get(id)).toMatchObject({ projectId: project.id, options: FIELDS.options });
  expect(chat.list()).toMatchObject([{ id, projectId: project.id }]);
  const promptOf = async (conversation: string): Promise<string> => {
    const { tokens } = chat.report((await ask(conversation, 'Where does Mara live?')).id)!;
    return tokens.join('');
  };
  const head = 'Be kind.\n\nAnswer in one sentence.';
  expect(await promptOf(id)).toContain(head);
  expect(await promptOf(chat.create(NEW, project.id).id)).toContain(head);
  const other = await promptOf(chat.create(NEW).id);
  expect(other).toContain('Be kind.');
  expect(other).not.toContain('Answer in one sentence.');
});

test('changed instructions apply from the next question on', async () => {
  const { chat, ask } = await fixture();
  const project = chat.createProject(FIELDS);
  const { id } = chat.create(NEW, project.id);
  await ask(id, 'Where does Mara live?');
  const changed = { ...project, name: 'Spans', instructions: 'Answer in rhyme.' };
  expect(chat.changeProject(changed)).toEqual(changed);
  const second = chat.report((await ask(id, 'Where does Jon live?')).id)!.tokens.join('');
  expect(second).toContain('rhyme.');
  expect(second).not.toContain('one sentence');
});

test('estimates count the instructions, before the conversation exists too', async () => {
  const { chat } = await fixture();
  const project = chat.createProject({
    ...FIELDS,
    options: { scope: { libraryIds: [], documentIds: ['10'] } },
  });
  const { id, options } = chat.create(undefined, project.id);
  const draft = { options, text: 'Where does Mara live?' };
  const tokens = async (asked: { conversationId: string | null; projectId?: string }) =>
    (await chat.estimate({ ...draft, ...asked }))!.promptTokens;
  const own = await tokens({ conversationId: id });
  expect(await tokens({ conversationId: null, projectId: project.id })).toBe(own);
  chat.move(id, null);
  expect(await tokens({ conversationId: id })).toBeLessThan(own);
  expect(await tokens({ conversationId: null })).toBeLessThan(own);
});

test('the beginning of its prompts is exported, to be stored', async () => {
  const { chat, ask, model } = await fixture();
  const exported = vi.spyOn(model, 'exportPrefix');
  const instructions = 'Answer in one sentence. '.repeat(20).trim();
  const project = chat.createProject({ ...FIELDS, instructions });
  await ask(chat.create(NEW, project.id).id, 'Where does Mara live?');
  await chat.idle();
  const [tokens] = exported.mock.calls[0] as unknown as [Int32Array];
  expect(model.detokenize(tokens)).toContain(instructions.slice(0, 200));
  expect(model.detokenize(tokens)).not.toContain('Mara');
});

test('deleting a project keeps its conversations, after a restart too', async () => {
  const { chat, dir, close } = await fixture();
  const [first, second] = [chat.createProject({ ...FIELDS, name: 'Zinc' }), chat.createProject(FIELDS)];
  expect(chat.projects()).toEqual([second, first]);
  const { id } = chat.create(NEW, first.id);
  chat.move(id, second.id);
  expect(chat.get(id)).toMatchObject({ projectId: second.id, options: NEW });
  chat.deleteProject(second.id);
  expect(chat.get(id).projectId).toBeNull();
  await close();
  const { chat: again } = await fixture({ dir });
  expect(again.projects()).toEqual([first]);
  expect(again.list()).toMatchObject([{ id, projectId: null }]);
  const missing = expect.objectContaining({ code: 'NOT_FOUND' }) as Error;
  expect(() => again.move(id, second.id)).toThrow(missing);
  expect(() => again.create(NEW, second.id)).toThrow(missing);
  expect(() => again.changeProject(second)).toThrow(missing);
});
