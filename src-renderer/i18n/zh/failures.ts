import type { ErrorCode } from '../../../src-shared/errors.ts';
import { models } from './models.ts';
import { settings } from './settings.ts';
import { reasons } from './sharing.ts';

interface Words {
  /** With placeholders for the failure's values. */
  message: string;
  advice: string;
  /** Whether this says everything that the core's text says. */
  whole?: true;
}

/** Message and advice. Codes whose causes have nothing in common are left to the core's text. */
export const failures: Partial<Record<ErrorCode, Words>> = {
  MODEL_NOT_FOUND: { message: '找不到模型文件。', advice: '请检查路径，或重新导入 GGUF 文件。' },
  MODEL_INVALID: {
    message: '模型文件无效：它不是 GGUF，或已损坏、不完整。',
    advice: '请重新获取该文件，然后再次导入。',
  },
  MODEL_PART_MISSING: {
    message: '该模型由多个文件组成，其中有文件缺失。',
    advice: '请把缺少的文件放到同一个文件夹中。',
  },
  MODEL_UNSUPPORTED: { message: '暂不支持该模型的架构或其中的某项特性。', advice: '请选择其他模型。' },
  MODEL_TOO_LARGE: { message: '内存放不下该模型。', advice: '请关闭其他程序，或选择较小的模型。' },
  MODEL_NUMBERS: {
    message: '模型算出了无效的数值，无法继续。',
    advice: '文件可能已损坏，请重新获取；若文件完好，则是数值超出了 16 位的范围，请换用该模型的其他版本。',
  },
  MODEL_CHANGED: {
    message: '模型文件在使用期间被修改。',
    advice: '请重新加载该模型；如无法加载，请重新获取该文件。',
  },
  ADAPTER_INVALID: {
    message: '适配器文件无效：它不存在、不是 GGUF 格式的 LoRA 适配器，或已损坏。',
    advice: '请选择由 llama.cpp 的 convert_lora_to_gguf.py 生成的文件。',
  },
  ADAPTER_MISMATCH: {
    message: '该适配器是为其他模型制作的。',
    advice: '请选择训练它时所用的模型。',
  },
  ADAPTER_UNSUPPORTED: {
    message: '暂不支持该适配器，或该模型不能使用适配器。',
    advice: '请选择其他适配器，或先将它合并到模型中。',
  },
  CHUNK_CORRUPT: {
    message: '一个段落的缓存文件已损坏。',
    advice: '该文件已隔离，需要时会自动重新计算。',
  },
  CHUNK_UNREADABLE: {
    message: '系统无法读取一个段落的缓存文件。',
    advice: '请检查缓存所在的磁盘；恢复后会自动继续使用该文件。',
  },
  CHUNK_VERSION: { message: '一个缓存文件由更新版本的 Kvasir 写成。', advice: '请更新 Kvasir。' },
  CHUNK_MISMATCH: { message: '一个缓存文件属于其他模型。', advice: '需要时会自动重新计算。' },
  SHARED_TIER_FAILED: {
    message: '共享缓存没有响应，或连接中断。',
    advice: '所需内容已在本机计算；请检查网络和共享缓存的设置。',
  },
  STORE_IN_USE: {
    message: '另一个 Kvasir 正在使用同一个数据文件夹，且无法代为执行。',
    advice: '请先关闭它，或使用其他数据文件夹。',
  },
  DATABASE_HELD: {
    message: '另一个程序（例如备份或杀毒软件）正占用一个数据库，Kvasir 暂时无法写入。',
    advice: '没有写入任何内容；该程序释放数据库后，请重试。',
  },
  STORE_VERSION: { message: '数据由更新版本的 Kvasir 写成。', advice: '请更新 Kvasir。' },
  STORE_READ_ONLY: { message: '无法写入数据文件夹。', advice: '请检查该文件夹的权限。' },
  STORE_CORRUPT: { message: '一个数据文件已损坏，无法读取。', advice: '损坏的文件已保留；可以从备份恢复。' },
  DISK_FULL: { message: '磁盘空间不足。', advice: '请腾出空间，或在设置中调低缓存的磁盘预算。' },
  CACHE_FULL: {
    message: '缓存已达到磁盘预算，放不下全部文档；其余的在问题用到时计算。',
    advice: '请在“缓存”页面调高预算，或以 q8_0 存储；缺少的部分会自动补算。',
  },
  CACHE_FOLDER_UNLISTED: {
    message:
      '设置中不再有一个存放着 {{chunks}} 个文本块（其中 {{pinned}} 个已固定）的缓存文件夹。其中的文件保持原样，不再使用。',
    advice:
      '重新添加该文件夹即可继续使用。如不需要，请删除其中的 kvasir-cache 文件夹，并在“缓存”页面取消固定并删除已固定的文本块。',
    whole: true,
  },
  SHARING_FAILED: { message: '{{where}}：{{reason}}', advice: '', whole: true },
  DOWNLOAD_FAILED: { message: '下载失败。', advice: '请检查网络连接，然后继续下载。' },
  CHECKSUM_MISMATCH: { message: '下载的文件与说明不符。', advice: '该文件未被使用，请重新下载。' },
  HUB_UNREACHABLE: {
    message: '无法连接模型站；本机上的模型可以照常使用。',
    advice: '请检查网络连接，或设置中的模型站地址。',
  },
  HUB_TOKEN: {
    message: '模型站拒绝了请求：需要令牌，或令牌无效，或者没有这个仓库。',
    advice: '请检查名称，或在“发现”页面填写令牌。',
  },
  HUB_GATED: {
    message: '只有接受了该仓库条款的人才能取得其文件。',
    advice: '请在它的页面上接受条款，然后在“发现”页面填写该账户的令牌。',
  },
  HUB_CHANGED: {
    message: '模型站上的文件已有变动、改名或被删除。',
    advice: '请重新打开该仓库，然后再次下载。',
  },
  REMOTE_UNREACHABLE: {
    message: '无法连接该服务器。',
    advice: '请确认服务器正在运行，并检查地址、端口和网络。',
  },
  REMOTE_CERTIFICATE: {
    message: '服务器的证书不受信任，因此没有发送任何内容。',
    advice:
      '如果证书是自己的，请把签发机构加入系统的受信任证书，或在启动 Kvasir 时将 NODE_EXTRA_CA_CERTS 设为其 PEM 文件。',
  },
  REMOTE_KEY: {
    message: '服务器需要密钥，或拒绝了所给的密钥；也可能是密钥无法读取。',
    advice: '请在“模型”页面为该模型填写密钥。',
  },
  REMOTE_MODEL: {
    message: '服务器没有这个模型，或地址不是其接口的地址。',
    advice: '请查看服务器现有的模型，然后添加所需的一个。',
  },
  REMOTE_BUSY: { message: '服务器暂时不接受更多请求。', advice: '请稍后再问。' },
  REMOTE_QUOTA: {
    message: '该服务器上的账户已用完额度。',
    advice: '请在那里提高限额或充值，或选择其他模型。',
  },
  REMOTE_FAILED: {
    message: '服务器无法回答。',
    advice: '请查看服务器的日志；可以再问一次，或选择其他模型。',
  },
  REMOTE_SLOW: {
    message: '服务器在规定时间内没有任何回应。',
    advice: '它可能正在加载模型、排队或内存不足：请再试一次，或允许更长的等待时间。',
  },
  REMOTE_CUT: {
    message: '与服务器的连接在回答中途断开。',
    advice: '已收到的内容会保留；请再问一次以获得完整回答。',
  },
  REMOTE_PROTOCOL: {
    message: '服务器的回应不符合 OpenAI 接口。',
    advice: '请检查地址：通常以 /v1 结尾，前面不能有登录页面。',
  },
  MCP_CONFIG: { message: 'MCP 服务器的配置无法读取。', advice: '请更正它；格式见 docs/mcp-servers.md。' },
  MCP_COMMAND: {
    message: '无法启动该服务器的程序：找不到它，或它不可执行。',
    advice: '请安装该程序，或给出完整路径；其工作目录也必须存在。',
  },
  MCP_EXITED: {
    message: '该服务器的程序已退出。',
    advice: '请在终端中运行其命令以查看原因。下次使用时会重新启动它。',
  },
  MCP_UNREACHABLE: { message: '无法连接该服务器。', advice: '请检查其地址，以及它是否在运行。' },
  MCP_SIGN_IN: {
    message: '该服务器拒绝了请求：需要密钥或登录。',
    advice: '请在“设置 → 工具”中登录，或以请求头提供密钥。',
  },
  MCP_SLOW: {
    message: '该服务器未在规定时间内启动。',
    advice: '请重试：有些程序在首次启动时会下载软件包。',
  },
  MCP_PROTOCOL: {
    message: '该服务器的响应不符合 MCP 的要求。',
    advice: '请确认它是 MCP 服务器，并更新它。',
  },
  PAGE_PRIVATE: {
    message: '该地址位于本机或专用网络；Kvasir 只从互联网获取网页。',
    advice: '请在浏览器中保存该网页，然后添加文件。',
  },
  PAGE_UNREACHABLE: { message: '无法获取该网页。', advice: '请检查地址和网络连接，然后重试。' },
  PAGE_UNSUPPORTED: {
    message: '该地址的内容不是 Kvasir 能读取的类型。',
    advice: '请在浏览器中下载，转换为 PDF 或 HTML 后再添加。',
  },
  LIBRARY_NOT_FOUND: {
    message: '找不到该资料库的文件夹。',
    advice: '请检查路径，以及所在的磁盘是否已连接。',
  },
  LIBRARY_EMPTY: { message: '文件夹中没有可以读取的文档。', advice: '请选择其他文件夹。' },
  DOCUMENT_TOO_LARGE: { message: '文档超过了大小上限。', advice: '请在设置中调高上限，或拆分该文档。' },
  DOCUMENT_ENCODING: { message: '文档的文字编码无法识别。', advice: '请以 UTF-8 保存后重试。' },
  DOCUMENT_UNREADABLE: {
    message: '无法读取该文档。',
    advice: '请检查文件是否完好、是否有权限读取，然后重试。',
  },
  DOCUMENT_ENCRYPTED: { message: '文档已加密，需要密码或证书。', advice: '请保存一份未加密的副本。' },
  DOCUMENT_NO_TEXT: { message: '文档中没有文字。', advice: '请移除该文档，或用原来的程序重新保存。' },
  DOCUMENT_UNSUPPORTED: { message: '不支持这种文档格式。', advice: '请转换为 PDF、DOCX 或纯文本等格式。' },
  DOCUMENT_TIMEOUT: { message: '读取文档花费的时间过长，已停止。', advice: '请拆分该文档，或重试。' },
  DOCUMENT_MEMORY: { message: '读取文档需要的内存过多，已停止。', advice: '请拆分该文档。' },
  DOCUMENT_WAITING: {
    message: '与此问题最相符的文档仍在读取中。',
    advice: '请稍后重新提问；如果队列已暂停，请先继续队列。',
  },
  TABLE_QUERY: {
    message: '无法执行这条表格查询语句。',
    advice: '请用 SQLite 语法写一条 SELECT 语句，表名和列名放在双引号中。',
  },
  TABLE_TIMEOUT: { message: '表格查询占用的时间或内存过多，已停止。', advice: '请写一条更简单的语句。' },
  NO_MATCH: {
    message: '你的文档中没有与此问题匹配的段落，因此没有让模型猜测。',
    advice: '请换一种说法提问，选择其他资料库，或添加相关文档。',
  },
  QUESTION_TOO_LONG: { message: '问题太长，上下文放不下。', advice: '请缩短问题，或使用上下文更长的模型。' },
  CONTEXT_OVERFLOW: { message: '提示超出了上下文长度。', advice: '请减少段落数量，或使用上下文更长的模型。' },
  BLENDING_RAISED: {
    message:
      '融合使“{{model}}”依据“{{library}}”的回答改变过多，因此今后至少重新计算其中 {{ratio}} 的缓存文本。',
    advice: '比较结果见“模型”页面。',
    whole: true,
  },
  BLENDING_STOPPED: {
    message: '融合仍使“{{model}}”依据“{{library}}”的回答改变过多，因此今后全部直接计算，回答会慢一些。',
    advice: '比较结果见“模型”页面；在那里点击“重新融合”即可恢复。',
    whole: true,
  },
  DEVICE_FAILED: {
    message: 'GPU 无法使用，因此由 CPU 计算。',
    advice: '请安装或更新显卡驱动，然后在“设置 → 引擎”中重新测试。',
  },
  UPDATE_READY: {
    message: 'Kvasir {{version}} 已下载，退出时安装。',
    advice: '退出并重新启动即可立即使用。',
    whole: true,
  },
  DOCUMENTS_RECUT: {
    message: '新版本的 Kvasir 以不同方式读取文档，因此正在后台重新处理所有文档。',
    advice: '期间可以照常提问；“资料库”页面显示进度。',
    whole: true,
  },
  SETTING_ADJUSTED: {
    message: '设置“{{setting}}”的值 {{asked}} 在本机上无法使用，已改用 {{used}}。',
    advice: '如不合适，请在设置中另选一个值。',
    whole: true,
  },
  SETTINGS_DAMAGED: {
    message: '设置文件无法完整读取：读不出的设置已恢复为默认值，原文件保留在旁边。',
    advice: '请检查各项设置。',
  },
  BACKUP_INVALID: { message: '该备份文件无法恢复。', advice: '请选择其他备份文件。' },
  CONNECTION_LOST: {
    message: '与 Kvasir 核心的连接已断开。',
    advice: '正在等待重新连接；如未恢复，请重新启动。',
    whole: true,
  },
  ABORTED: { message: '已停止。', advice: '' },
  OUT_OF_MEMORY: {
    message: '内存不足。',
    advice: '请关闭其他程序，减小上下文长度或缓存的内存预算，或使用较小的模型。',
  },
};

/** Values that are identifiers, with their names in the UI. */
export const names: Record<string, string> = {
  default: '默认值',
  chunkTokens: settings.documents.chunkTokens,
  topK: settings.answers.topK,
  maxTokens: settings.answers.maxTokens,
  contextTokens: settings.answers.contextTokens,
  temperature: models.sampling.temperature,
  threads: settings.engine.threads,
  ...reasons,
};
