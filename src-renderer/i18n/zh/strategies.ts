import type { en, Words } from '../words.ts';

export const strategies: Words<typeof en.strategies> = {
  auto: { name: '自动', help: '采用实测能保持此模型质量、并且在这台机器上最快的方式。' },
  deviation: { name: '按偏差融合', help: '复用缓存的文本，重算数值偏差最大的 token（CacheBlend）。' },
  none: { name: '全部复用', help: '最快，但各段落彼此互不知晓。' },
  full: { name: '完整预填充', help: '全部重新计算：最慢，用作对照。' },
  query: { name: '按问题融合', help: '复用缓存的文本，重算问题所关注的内容，并据此修正其余内容。' },
  separator: '、',
  checked_other: '{{strategy}}，在第 {{layers}} 层检查',
  asked_other: '{{strategy}}，在第 {{layers}} 层看问题',
};
