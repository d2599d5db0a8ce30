// Translation of a request on Anthropic's Messages wire into one of chat/completions, for vendors that do not speak that wire. What a chat
// cannot say is noted by its field: then only vendors of that wire may be asked.
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { invalidField } from '../../../problems/problem.ts';
import { type Sent, wholeOf } from '../calls/ask.ts';
import type { AiLack } from '../vendors/port.ts';

export interface Translated {
  /** The body of chat/completions that asks the same. */
  readonly chat: WireObject;
  /** The first that it does not say; null: it says all. */
  readonly lack: AiLack | null;
  /** Of what it leaves out. */
  readonly tokensBeside: number;
  /** Whether something of that stands elsewhere, where only the vendor reads it. */
  readonly unseen: boolean;
}

/** Go over as they are; the rest of them are our own fields. */
const SAME: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'temperature', 'top_p', 'top_k'],
  ...['vendor', 'cross_region', 'idempotency_key', 'cache_ttl_seconds', 'stream_to'],
]);
/** Said otherwise below, or hints that change no answer. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...['messages', 'system', 'max_tokens', 'tools', 'tool_choice', 'stop_sequences', 'thinking', 'output_config'],
  ...['metadata', 'cache_control', 'service_tier', 'context_management'],
]);
/** Of output_config. */
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['effort', 'format']);
/** Edits that only make the input shorter. */
const CLEARING = /^clear_/;

const CHARACTERS_PER_TOKEN = 4;
/** Of a file in base64: what a page has of text is a fraction of its bytes. */
const FILE_CHARACTERS_PER_TOKEN = 16;

/** Sources of blocks that only name what a model reads. */
const ELSEWHERE: ReadonlySet<unknown> = new Set(['url', 'file']);

/** Thinking budgets up to these are that effort, in tokens. */
const EFFORTS = [
  [4_096, 'low'],
  [16_384, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
] as const;

/** Throws VALIDATION_FAILED for what is no request of that wire. */
export function translate(sent: Sent): Translated {
  const left = new Left();
  const { stop_sequences: stop } = sent;
  if (stop != null && !Array.isArray(stop)) throw invalidField('stop_sequences', 'type', 'stop_sequences is a list.');
  for (const name of Object.keys(sent)) if (!SAME.has(name) && !UNDERSTOOD.has(name)) left.note(name, name, sent[name]);
  noteEdits(sent.context_management, left);
  const tools = toolsOf(sent.tools, left);
  return {
    chat: {
      ...Object.fromEntries(Object.entries(sent).filter(([name]) => SAME.has(name))),
      messages: [...systemOf(sent.system, 'system', left), ...messagesOf(sent.messages, left)],
      ...optionalMember('max_tokens', wholeOf(sent, 'max_tokens', 1)),
      ...optionalMember('stop', stop?.length === 0 ? null : stop),
      ...(tools.length === 0 ? {} : { tools, ...choiceOf(sent.tool_choice) }),
      ...outputOf(sent, left),
    },
    lack: left.first,
    tokensBeside: left.tokens,
    unseen: left.unseen,
  };
}

/** The body for vendors of the wire. Thoughts without a signature are of a model of another wire: no vendor takes them. */
export function withoutForeignThoughts({ messages, ...body }: WireObject): WireObject {
  const isForeign = (block: unknown) => isObject(block) && block.type === 'thinking' && block.signature === '';
  const kept = objectsOf(messages).map((message) =>
    Array.isArray(message.content) && message.content.some(isForeign)
      ? { ...message, content: message.content.filter((block) => !isForeign(block)) }
      : message,
  );
  return { ...body, messages: kept };
}

/** What the translation leaves out. */
class Left {
  first: AiLack | null = null;
  tokens = 0;
  unseen = false;

  /** What is lost with it makes another request. */
  note(field: string, what: string, value: unknown): void {
    this.first ??= { field, rule: 'not_offered', what };
    this.count(value);
  }

  count(value: unknown): void {
    const { type, source }: WireObject = isObject(value) ? value : {};
    if (type === 'container_upload' || (isObject(source) && ELSEWHERE.has(source.type))) this.unseen = true;
    const isFile = isObject(source) && typeof source.data === 'string';
    const characters = isFile ? (source.data as string).length : (JSON.stringify(value)?.length ?? 0);
    this.tokens += Math.ceil(characters / (isFile ? FILE_CHARACTERS_PER_TOKEN : CHARACTERS_PER_TOKEN));
  }
}

function optionalMember(name: string, value: unknown): WireObject {
  return value == null ? {} : { [name]: value };
}

function noteEdits(management: unknown, left: Left): void {
  const { edits, ...further }: WireObject = isObject(management) ? management : {};
  const other = objectsOf(edits).findIndex(({ type }) => !CLEARING.test(String(type)));
  if (other >= 0) left.note(`context_management.edits[${other}].type`, 'this edit of the context', null);
  for (const name of Object.keys(further)) left.note(`context_management.${name}`, name, null);
}

function systemOf(system: unknown, at: string, left: Left): WireObject[] {
  if (system == null) return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  const parts = blocksAt(system, at).flatMap((block, i) => partsOf(block, `${at}[${i}]`, left));
  const text = parts.map((part) => part.text ?? '').join('\n\n');
  return text === '' ? [] : [{ role: 'system', content: text }];
}

function messagesOf(messages: unknown, left: Left): WireObject[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalidField('messages', 'type', 'messages is a list of at least one message.');
  return messages.flatMap((message, i) => {
    const at = `messages[${i}]`;
    if (!isObject(message)) throw invalidField(at, 'type', 'A message is an object.');
    const { role, content } = message;
    if (role === 'system') return systemOf(content, `${at}.content`, left);
    if (role !== 'user' && role !== 'assistant')
      throw invalidField(`${at}.role`, 'type', 'The role of a message is user or assistant.');
    if (typeof content === 'string') return [{ role, content }];
    const blocks = blocksAt(content, `${at}.content`);
    return role === 'user' ? userMessages(blocks, at, left) : [assistantMessage(blocks, at, left)];
  });
}

function blocksAt(content: unknown, at: string): readonly WireObject[] {
  if (!Array.isArray(content)) throw invalidField(at, 'type', `${at} is a text or a list of blocks.`);
  const other = content.findIndex((block) => !isObject(block));
  if (other >= 0) throw invalidField(`${at}[${other}]`, 'type', 'A block is an object.');
  return content;
}

/** Results of tools are messages of their own, before what the user says. Their pictures go with that: no message of a tool has any. */
function userMessages(blocks: readonly WireObject[], at: string, left: Left): WireObject[] {
  const results: WireObject[] = [];
  const parts: WireObject[] = [];
  for (const [i, block] of blocks.entries()) {
    const here = `${at}.content[${i}]`;
    if (block.type !== 'tool_result') {
      parts.push(...partsOf(block, here, left));
      continue;
    }
    const inner = resultParts(block.content, `${here}.content`, left);
    const text = inner.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('\n');
    const content = block.is_error === true ? `Error: ${text}` : text;
    results.push({ role: 'tool', tool_call_id: textOf(block.tool_use_id, `${here}.tool_use_id`), content });
    parts.push(...inner.filter(({ type }) => type === 'image_url'));
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
}

function resultParts(content: unknown, at: string, left: Left): WireObject[] {
  if (content == null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return blocksAt(content, at).flatMap((block, i) => partsOf(block, `${at}[${i}]`, left));
}

/** What an assistant has said is one text, for the most vendors. Thoughts are its own: other models cannot read them. */
function assistantMessage(blocks: readonly WireObject[], at: string, left: Left): WireObject {
  const texts: string[] = [];
  const calls: WireObject[] = [];
  for (const [i, block] of blocks.entries()) {
    const here = `${at}.content[${i}]`;
    if (block.type === 'thinking' || block.type === 'redacted_thinking') left.count(block);
    else if (block.type === 'tool_use') calls.push(callOf(block, here));
    else for (const part of partsOf(block, here, left)) if (typeof part.text === 'string') texts.push(part.text);
  }
  const content = texts.join('');
  if (calls.length === 0) return { role: 'assistant', content };
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

function callOf({ id, name, input }: WireObject, at: string): WireObject {
  const called = { name: textOf(name, `${at}.name`), arguments: JSON.stringify(input ?? {}) };
  return { id: textOf(id, `${at}.id`), type: 'function', function: called };
}

/** Of a block that is neither a call nor a result. */
function partsOf(block: WireObject, at: string, left: Left): WireObject[] {
  const { type, source } = block;
  if (type === 'text') return [{ type, text: textOf(block.text, `${at}.text`) }];
  if (type === 'image' && isObject(source)) {
    if (source.type === 'url') return [imageOf(textOf(source.url, `${at}.source.url`))];
    if (source.type === 'base64') {
      const media = textOf(source.media_type, `${at}.source.media_type`);
      return [imageOf(`data:${media};base64,${textOf(source.data, `${at}.source.data`)}`)];
    }
  }
  if (type === 'document' && isObject(source) && source.type === 'text')
    return [{ type: 'text', text: textOf(source.data, `${at}.source.data`) }];
  const kind = textOf(type, `${at}.type`);
  left.note(`${at}.type`, `blocks of the type ${kind.slice(0, 100)}`, block);
  return [];
}

function imageOf(url: string): WireObject {
  return { type: 'image_url', image_url: { url } };
}

function toolsOf(sent: unknown, left: Left): WireObject[] {
  if (sent != null && !Array.isArray(sent)) throw invalidField('tools', 'type', 'tools is a list.');
  return (sent ?? []).flatMap((tool: unknown, i: number) => {
    const at = `tools[${i}]`;
    if (!isObject(tool)) throw invalidField(at, 'type', 'A tool is an object.');
    const { type, name, description, input_schema: schema, strict } = tool;
    if (type != null && type !== 'custom') {
      left.note(`${at}.type`, `tools of the type ${String(type).slice(0, 100)}`, tool);
      return [];
    }
    const parameters = schema ?? { type: 'object', properties: {} };
    const called = { name: textOf(name, `${at}.name`), ...optionalMember('description', description), parameters };
    return [{ type: 'function', function: { ...called, ...optionalMember('strict', strict) } }];
  });
}

function choiceOf(choice: unknown): WireObject {
  if (choice == null) return {};
  const { type, name, disable_parallel_tool_use: alone }: WireObject = isObject(choice) ? choice : {};
  const parallel = alone === true ? { parallel_tool_calls: false } : {};
  if (type === 'auto' || type === 'none') return { tool_choice: type, ...parallel };
  if (type === 'any') return { tool_choice: 'required', ...parallel };
  if (type !== 'tool') throw invalidField('tool_choice.type', 'enum', 'tool_choice.type is auto, any, tool or none.');
  const called = { name: textOf(name, 'tool_choice.name') };
  return { tool_choice: { type: 'function', function: called }, ...parallel };
}

/** Form and effort of the answer. */
function outputOf({ output_config: sent, thinking }: Sent, left: Left): WireObject {
  const config: WireObject = isObject(sent) ? sent : {};
  for (const name of Object.keys(config))
    if (!OUTPUT_FIELDS.has(name)) left.note(`output_config.${name}`, name, config[name]);
  const { effort, format } = config;
  return { ...formatOf(format, left), ...effortOf(effort, thinking) };
}

function formatOf(format: unknown, left: Left): WireObject {
  if (format == null) return {};
  const { type, schema }: WireObject = isObject(format) ? format : {};
  if (type === 'json_schema')
    return { response_format: { type, json_schema: { name: 'answer', schema: schema ?? {}, strict: true } } };
  left.note('output_config.format.type', 'this format of an answer', format);
  return {};
}

function effortOf(effort: unknown, thinking: unknown): WireObject {
  const { type, budget_tokens: budget }: WireObject = isObject(thinking) ? thinking : {};
  if (type === 'disabled') return {};
  if (typeof effort === 'string')
    return { reasoning_effort: effort === 'low' || effort === 'medium' ? effort : 'high' };
  const found = EFFORTS.find(([most]) => Number(budget) <= most);
  return type === 'enabled' && found !== undefined ? { reasoning_effort: found[1] } : {};
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw invalidField(field, 'type', 'This is a text.');
}
