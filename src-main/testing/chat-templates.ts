/** Chat templates modelled on those of model families: the same control tokens and logic, shortened. Without tools. */
const { raw } = String;

const CHECK_TURNS = raw`{%- for m in turns -%}{%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{- raise_exception('Roles must alternate: user, assistant, user, …') -}}
{%- endif -%}{%- endfor -%}`;

const llama = raw`{{- bos_token }}
{%- if not date_string is defined %}{%- if strftime_now is defined %}
{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = "" %}{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}{{- "Environment: tools\n" }}{%- endif %}
{{- "Today Date: " + date_string + "\n\n" + system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- else %}{{- raise_exception("This model only supports single tool-calls at once!") }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}`;

const qwen2 = raw`{%- if tools %}{{- '<|im_start|>system\n# Tools\n<tools></tools><|im_end|>\n' }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}{{- '<|im_start|>system\nYou are Qwen.<|im_end|>\n' }}{%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "tool" %}{{- '<tool_response>' + message.content }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;

/** Omits thoughts of past turns; writes an empty one if thinking is off. */
const qwen3 = raw`{%- if tools %}{{- '<|im_start|>system\n# Tools\n<tools></tools><|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}{%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}{%- set reasoning_content = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and reasoning_content %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}{{- '<|im_start|>' + message.role + '\n' + content }}{%- endif %}
        {%- if message.tool_calls %}{{- '\n<tool_call>\n</tool_call>' }}{%- endif %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}`;

/** For models that always think: the template begins the thought. */
const qwen3Thinking = qwen3.replace(
  /\{%- if enable_thinking is defined.*?\{%- endif %\}/s,
  String.raw`{{- '<think>\n' }}`,
);

const qwen3vl = raw`{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].content is string %}{{- messages[0].content }}
    {%- else %}{%- for content in messages[0].content %}{%- if 'text' in content %}{{- content.text }}{%- endif %}{%- endfor %}{%- endif %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- set image_count = namespace(value=0) %}
{%- for message in messages %}
    {%- if message.role == "user" or message.role == "assistant" %}
        {{- '<|im_start|>' + message.role + '\n' }}
        {%- if message.content is string %}{{- message.content }}
        {%- else %}{%- for content in message.content %}
            {%- if content.type == 'image' %}{%- set image_count.value = image_count.value + 1 %}<|vision_start|><|image_pad|><|vision_end|>
            {%- elif 'text' in content %}{{- content.text }}{%- endif %}
        {%- endfor %}{%- endif %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}`;

const mistral3 = raw`{%- set today = strftime_now("%Y-%m-%d") %}
{%- set default_system_message = "You are a model by Mistral AI. Today is " + today + "." %}
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- if messages[0]['content'] is string %}{%- set system_message = messages[0]['content'] %}
    {%- else %}{%- set system_message = messages[0]['content'][0]['text'] %}{%- endif %}
    {%- set turns = messages[1:] %}
{%- else %}{%- set system_message = default_system_message %}{%- set turns = messages %}{%- endif %}
{{- '[SYSTEM_PROMPT]' + system_message + '[/SYSTEM_PROMPT]' }}
${CHECK_TURNS}
{%- for message in turns %}
    {%- if message['role'] == 'user' %}{{- '[INST]' + message['content'] + '[/INST]' }}
    {%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}
    {%- else %}{{- raise_exception('Only user and assistant roles are supported here.') }}{%- endif %}
{%- endfor %}`;

/** Puts the system message into the latest question. */
const mistralBefore = raw`{%- if messages[0]["role"] == "system" %}{%- set system_message = messages[0]["content"] %}{%- set turns = messages[1:] %}
{%- else %}{%- set turns = messages %}{%- endif %}
${CHECK_TURNS}
{{- bos_token }}
{%- for message in turns %}
    {%- if message["role"] == "user" %}
        {%- if tools is defined and tools is not none %}{{- "[AVAILABLE_TOOLS][/AVAILABLE_TOOLS]" }}{%- endif %}
        {%- if loop.last and system_message is defined %}{{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}{{- "[INST] " + message["content"] + "[/INST]" }}{%- endif %}
    {%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token }}{%- endif %}
{%- endfor %}`;

const phi3 = raw`{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}`;

const phi4 = raw`{% for message in messages %}{% if (message['role'] == 'system') %}{{'<|im_start|>system<|im_sep|>' + message['content'] + '<|im_end|>'}}{% elif (message['role'] == 'user') %}{{'<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>'}}{% elif (message['role'] == 'assistant') %}{{'<|im_start|>assistant<|im_sep|>' + message['content'] + '<|im_end|>'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}`;

const granite = raw`{%- if tools and not available_tools -%}{%- set available_tools = tools -%}{%- endif -%}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}{%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Today's Date: " + strftime_now('%B %d, %Y') + ". You are Granite." %}
    {%- if available_tools and documents %}{%- set system_message = system_message + " You have tools and documents." %}
    {%- elif documents %}{%- set system_message = system_message + " Cite the documents." %}
    {%- elif thinking %}{%- set system_message = system_message + " Put thoughts between <think></think> and the response between <response></response>." %}
    {%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\n' }}
{%- if available_tools %}{{- '<|start_of_role|>available_tools<|end_of_role|>' + available_tools | tojson(indent=4) + '<|end_of_text|>\n' }}{%- endif %}
{%- if documents %}{%- for document in documents %}{{- '<|start_of_role|>document {"document_id": "' + document['doc_id'] | string + '"}<|end_of_role|>\n' }}{%- endfor %}{%- endif %}
{%- for message in loop_messages %}
    {{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\n' }}
    {%- if loop.last and add_generation_prompt %}
        {{- '<|start_of_role|>assistant' }}{%- if controls %}{{- ' ' + controls | tojson()}}{%- endif %}{{- '<|end_of_role|>' }}
    {%- endif %}
{%- endfor %}`;

const smollm3 = raw`{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}
{%- if enable_thinking -%}{%- set reasoning_mode = "/think" -%}{%- else -%}{%- set reasoning_mode = "/no_think" -%}{%- endif -%}
{{- "<|im_start|>system\n" -}}
{%- if messages[0].role == "system" -%}
    {%- set system_message = messages[0].content -%}
    {%- if "/no_think" in system_message -%}{%- set reasoning_mode = "/no_think" -%}
    {%- elif "/think" in system_message -%}{%- set reasoning_mode = "/think" -%}{%- endif -%}
    {%- set custom_instructions = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{{- "## Metadata\n\nToday Date: " ~ strftime_now("%d %B %Y") ~ "\nReasoning Mode: " + reasoning_mode + "\n\n## Custom Instructions\n\n" -}}
{%- if custom_instructions -%}{{- custom_instructions + "\n\n" -}}
{%- elif reasoning_mode == "/think" -%}{{- "Think first.\n\n" -}}{%- else -%}{{- "Be helpful.\n\n" -}}{%- endif -%}
{%- if xml_tools or python_tools or tools -%}{{- "### Tools\n\n" -}}{%- endif -%}
{{- "<|im_end|>\n" -}}
{%- for message in messages -%}
    {%- set content = message.content if message.content is string else "" -%}
    {%- if message.role == "user" -%}{{ "<|im_start|>" + message.role + "\n"  + content + "<|im_end|>\n" }}
    {%- elif message.role == "assistant" -%}
        {% generation %}
        {%- if reasoning_mode == "/think" -%}{{ "<|im_start|>assistant\n" + content.lstrip("\n") + "<|im_end|>\n" }}
        {%- else -%}{{ "<|im_start|>assistant\n" + "<think>\n\n</think>\n" + content.lstrip("\n") + "<|im_end|>\n" }}{%- endif -%}
        {% endgeneration %}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {%- if reasoning_mode == "/think" -%}{{ "<|im_start|>assistant\n" }}
    {%- else -%}{{ "<|im_start|>assistant\n" + "<think>\n\n</think>\n"  }}{%- endif -%}
{%- endif -%}`;

const glm4 = raw`[gMASK]<sop>
{%- if tools -%}<|system|>
# Tools{%- endif -%}
{%- for msg in messages %}{%- if msg.role == 'system' %}<|system|>
{{ msg.content }}{%- endif %}{%- endfor %}
{%- for message in messages if message.role != 'system' %}
    {%- set role = message['role'] %}
    {%- set content = message['content'] %}
    {%- set visible = content.split('</think>')[-1].strip() %}
    {%- set meta = message.get("metadata", "") %}
    {%- if role == 'user' %}<|user|>
{{ visible }}
    {%- elif role == 'assistant' and not meta %}<|assistant|>
{{ visible }}
    {%- elif role == 'observation' %}<|observation|>
{{ visible }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>
{%- endif %}`;

const glm47 = raw`[gMASK]<sop>
{%- if tools -%}<|system|>
# Tools{%- endif -%}
{%- set ns = namespace(last_user_index=-1) %}
{%- for m in messages %}{%- if m.role == 'user' %}{% set ns.last_user_index = loop.index0 -%}{%- endif %}{%- endfor %}
{%- for m in messages -%}
    {%- if m.role == 'user' -%}<|user|>{{ m.content }}
    {%- elif m.role == 'assistant' -%}<|assistant|>
        {%- set reasoning = '' %}{%- set content = m.content %}
        {%- if '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].split('<think>')[-1] %}
            {%- set content = content.split('</think>')[-1].lstrip('
') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_user_index and reasoning -%}{{ '<think>' + reasoning.strip() + '</think>' }}
        {%- else -%}{{ '</think>' }}{%- endif -%}
        {%- if content.strip() -%}{{ content.strip() }}{%- endif -%}
    {%- elif m.role == 'system' -%}<|system|>{{ m.content }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    <|assistant|>{{- '</think>' if (enable_thinking is defined and not enable_thinking) else '<think>' -}}
{%- endif -%}`;

const olmo2 = raw`{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>
' + message['content'] + '
' }}{% elif message['role'] == 'user' %}{{ '<|user|>
' + message['content'] + '
' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>
'  + message['content'] + eos_token + '
' }}{% else %}{{ '<|assistant|>
'  + message['content'] + eos_token }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>
' }}{% endif %}{% endfor %}`;

/** `begin`: handling of a system message, since there is no role for it. */
const gemma = (begin: string): string => raw`{{ bos_token }}
${begin}
{%- for message in turns -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception("Conversation roles must alternate user/assistant") }}{%- endif -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<start_of_turn>' + role + '\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}{{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}{%- if item['type'] == 'image' -%}{{ '<start_of_image>' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}{%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content type") }}{%- endif -%}
    {{ '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%}`;

const gemma3 = gemma(raw`{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}{%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}
    {%- else -%}{%- set first_user_prefix = messages[0]['content'][0]['text'] + '\n\n' -%}{%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}{%- set first_user_prefix = "" -%}{%- set turns = messages -%}{%- endif -%}`);

const gemma2 =
  gemma(raw`{%- if messages[0]['role'] == 'system' -%}{{ raise_exception('System role not supported') }}{%- endif -%}
{%- set first_user_prefix = "" -%}{%- set turns = messages -%}`);

/** `begin`: text before an answer without thinking. */
const gemma4Like = (begin: string): string => raw`{%- macro strip_thinking(text) -%}
    {%- set ns = namespace(result='') -%}
    {%- for part in text.split('<channel|>') -%}
        {%- if '<|channel>' in part -%}{%- set ns.result = ns.result + part.split('<|channel>')[0] -%}
        {%- else -%}{%- set ns.result = ns.result + part -%}{%- endif -%}
    {%- endfor -%}
    {{- ns.result | trim -}}
{%- endmacro -%}
{%- set loop_messages = messages -%}
{{- bos_token -}}
{%- if (enable_thinking is defined and enable_thinking) or tools or messages[0]['role'] in ['system', 'developer'] -%}
    {{- '<|turn>system
' -}}
    {%- if enable_thinking is defined and enable_thinking -%}{{- '<|think|>
' -}}{%- endif -%}
    {%- if messages[0]['role'] in ['system', 'developer'] -%}
        {{- messages[0]['content'] | trim -}}
        {%- set loop_messages = messages[1:] -%}
    {%- endif -%}
    {{- '<turn|>
' -}}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{- '<|turn>' + role + '
' -}}
    {%- if message['content'] is string -%}
        {%- if role == 'model' -%}{{- strip_thinking(message['content']) -}}
        {%- else -%}{{- message['content'] | trim -}}{%- endif -%}
    {%- endif -%}
    {{- '<turn|>
' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model
' -}}
    ${begin}
{%- endif -%}`;

const gemma4 = gemma4Like('');

const gemma4Large = gemma4Like(
  raw`{%- if not (enable_thinking is defined and enable_thinking) -%}{{- '<|channel>thought
<channel|>' -}}{%- endif -%}`,
);

const gptOss = raw`{%- macro build_system_message() -%}
    {%- if model_identity is not defined %}{%- set model_identity = "You are ChatGPT." %}{%- endif %}
    {{- model_identity + "\nKnowledge cutoff: 2024-06\n" }}
    {{- "Current date: " + strftime_now("%Y-%m-%d") + "\n\n" }}
    {%- if reasoning_effort is not defined %}{%- set reasoning_effort = "medium" %}{%- endif %}
    {{- "Reasoning: " + reasoning_effort + "\n\n" }}
    {%- if builtin_tools is defined and builtin_tools is not none %}{{- "# Tools\n\n" }}{%- endif -%}
    {{- "# Valid channels: analysis, commentary, final. Channel must be included for every message." }}
    {%- if tools %}{{- "\nCalls to these tools must go to the commentary channel: 'functions'." }}{%- endif -%}
{%- endmacro -%}
{{- "<|start|>system<|message|>" }}{{- build_system_message() }}{{- "<|end|>" }}
{%- if messages[0].role == "developer" or messages[0].role == "system" %}
    {%- set developer_message = messages[0].content %}{%- set loop_messages = messages[1:] %}
{%- else %}{%- set developer_message = "" %}{%- set loop_messages = messages %}{%- endif %}
{%- if developer_message or tools %}
    {{- "<|start|>developer<|message|>" }}
    {%- if developer_message %}{{- "# Instructions\n\n" + developer_message + "\n\n" }}{%- endif %}
    {%- if tools -%}{{- "# Tools\n\n" }}{%- endif -%}
    {{- "<|end|>" }}
{%- endif %}
{%- set last_tool_call = namespace(name=none) %}
{%- for message in loop_messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if "content" in message %}
            {%- if "<|channel|>analysis<|message|>" in message.content or "<|channel|>final<|message|>" in message.content %}
                {{- raise_exception("Put thoughts in 'thinking', not in 'content'.") }}
            {%- endif %}
        {%- endif %}
        {%- if "tool_calls" in message %}{{- "<|start|>assistant to=functions<|channel|>commentary json<|message|><|call|>" }}
        {%- elif loop.last and not add_generation_prompt %}
            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|return|>" }}
        {%- else %}
            {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|end|>" }}
            {%- set last_tool_call.name = none %}
        {%- endif %}
    {%- elif message.role == 'user' -%}{{- "<|start|>user<|message|>" + message.content + "<|end|>" }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}`;

export const CHAT_TEMPLATES = {
  llama,
  qwen2,
  qwen3,
  qwen3Thinking,
  qwen3vl,
  mistral3,
  mistralBefore,
  phi3,
  phi4,
  granite,
  smollm3,
  glm4,
  glm47,
  olmo2,
  gemma3,
  gemma2,
  gemma4,
  gemma4Large,
  gptOss,
};

/** With tools, in the form of Hermes and Qwen 2.5. */
export const TOOL_TEMPLATE = raw`{%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{%- endif %}
{%- if tools %}{%- for tool in tools %}{{- tool | tojson + '\n' }}{%- endfor %}
{{- 'Call with <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>\n\n' }}{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' %}{{- message.content + '\n' }}
    {%- elif message.role == 'tool' %}{{- '<tool_response>\n' + message.content + '\n</tool_response>\n' }}
    {%- elif message.role == 'assistant' %}
        {{- 'Answer: ' + message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson + '}\n</tool_call>' }}
        {%- endfor %}{{- '\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- 'Answer:' }}{%- endif %}`;
