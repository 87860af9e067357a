/** README.txt of an export; the data folder's secrets stay out of it. */
export function readme(program: string, createdMs: number, dataDir: string): string {
  const made = new Date(createdMs).toISOString();
  return `Export from Kvasir ${program}, ${made}

conversations/       each conversation as Markdown (the branch that is shown) and as JSON (every branch, with
                     citations, notices and numbers: tokens reused and recomputed, times).
                     NAME.reports.json: what the engine reported about its answers, and comparisons
projects.json        projects with their instructions
drafts.json          questions that were typed and not sent
analyses/            analyses as Markdown and JSON, batches of questions also as CSV
libraries/NAME/      library.json     its folders, and what was taken out of them
                     documents.csv    its documents, and where their files are in this export
                     originals/       the original files
                     text/            the text that Kvasir read from them, in UTF-8
settings.json        settings
models.json          the list of models, without their weights

Left out, because Kvasir computes it again: the KV cache, search indexes, vectors, calibrations, measurements.
Left out, because it is secret: keys, tokens, passwords and sign-ins, and ${dataDir}/mcp.json,
which may hold keys; copy it yourself if you need it.
Left out: deleted conversations, backups and the log.

The files are not encrypted. A table's cells that begin with = + - or @ have a ' before them, so that no
spreadsheet runs them. Times are in UTC, or in milliseconds since 1970.


Kvasir ${program} 的导出，${made}

conversations/       每个对话：Markdown（当前显示的分支）和 JSON（全部分支，含引用、提示和数据：
                     复用与重新计算的词元数、用时）。NAME.reports.json：引擎对回答的报告和对比
projects.json        项目及其说明
drafts.json          已输入但未发送的问题
analyses/            分析：Markdown 和 JSON；批量提问另有 CSV
libraries/NAME/      library.json     资料库的文件夹，以及从中移除的内容
                     documents.csv    文档列表，以及它们在此导出中的位置
                     originals/       原始文件
                     text/            Kvasir 从中读取的文本，UTF-8 编码
settings.json        设置
models.json          模型列表，不含权重

未包含（Kvasir 可以重新计算）：KV 缓存、搜索索引、向量、校准和测量结果。
未包含（属于机密）：密钥、令牌、密码、登录信息，以及可能含有密钥的 ${dataDir}/mcp.json；需要时请自行复制。
未包含：已删除的对话、备份和日志。

这些文件没有加密。表格中以 = + - 或 @ 开头的单元格前有一个 '，以免电子表格执行它们。
时间为 UTC，或自 1970 年起的毫秒数。
`;
}
