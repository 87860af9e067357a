import type { Notice } from '../../../src-shared/answer.ts';

/** Notices; numbers and names are in the core's text. */
export const notices: Record<Notice['kind'], string> = {
  'missing-facts': '问题中有些名称、数字或日期没有出现在任何段落中。',
  'no-match': '没有匹配的文档：这个回答不以你的任何文档为依据。',
  openings: '没有段落能按问题的措辞作答，全文又太长：这个回答以文档的提纲和开头为依据。“分析”可以通读全文。',
  'still-reading': '有些文档仍在读取中，未能检索。请稍后重新提问。',
  unprepared: '有些文档还在为这个模型做准备，未能检索。请在准备完成后重新提问。',
  'queue-paused': '队列已暂停，有些文档还没有为这个模型做好准备，未能检索。请继续队列，然后重新提问。',
  'left-out': '上下文放不下所有匹配的段落，有些没有采用。',
  'turns-left-out': '上下文放不下整个对话，模型已看不到较早的部分。',
  'plain-prompt': '无法使用模型的对话模板，改用普通提示。',
  'shared-lost': '共享缓存未能完整送达部分段落；它们已在本机为这个回答计算。',
  quarantined: '损坏的缓存文件已隔离，其中的内容已为这个回答重新计算。',
  'kinds-skipped': '文件夹中有些文件的类型 Kvasir 不读取，未纳入资料库。',
  'over-budget': '缓存已满：放不下的段落会在需要时计算。',
  'full-prefill': '整个提示都直接计算：在这里这样比加载并融合缓存更快。',
  'still-thinking': '模型还在思考就达到了长度上限，因此没有回答。请允许更长的回答，或让它不思考直接回答。',
  unsupported: '回答中有段落里找不到的名称、数字或日期，可能是模型编造的。',
  'cut-off': '回答在结束之前就达到了长度上限或上下文末尾。',
  'cut-parts': '有些部分的回答没有写完，因此这里可能缺少内容。',
  repeats: '模型在重复同样的内容，因此结束了这个回答。',
  'not-blended': '整个提示都直接计算：测量发现，融合缓存的段落会使这个模型的回答改变过多。',
  'blending-stopped':
    '整个提示都直接计算：此前融合缓存的段落使来自这些文档的回答改变过多。可在“模型”页面点击“重新融合”来恢复。',
  'document-failed': '有一篇文档无法读取。',
};
