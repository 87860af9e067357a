import type { en, Words } from '../words.ts';

export const stages: Words<typeof en.stages> = {
  wait: { name: '等待', help: '等待轮到使用模型：等其他回答结束，等后台工作停下。' },
  retrieve: { name: '检索', help: '查找与问题匹配的段落。' },
  assemble: { name: '拼装', help: '把指令、段落和问题拼成 token 序列。' },
  acquire: { name: '查缓存', help: '查询哪些段落有缓存，决定如何使用，并打开其文件。' },
  load: { name: '加载', help: '等待缓存中的数据，仅计未能被计算掩盖的部分。' },
  place: { name: '就位', help: '把缓存的键转到段落现在所在的位置。' },
  check: { name: '检查', help: '对整个上下文计算最初几层，比较新旧数值，选出需要重新计算的 token。' },
  recompute: { name: '计算', help: '其余各层，只计算选中的 token 和缓存中没有的内容，直到得出模型的打分。' },
  firstToken: { name: '首个 token', help: '根据模型的打分选出首个 token。' },
  server: { name: '服务器', help: '从发出请求到服务器给出首个 token：往返、排队和它自己的计算。' },
  other: { name: '其他', help: '分配内存，以及把提示交给模型线程并取回结果。' },
};
