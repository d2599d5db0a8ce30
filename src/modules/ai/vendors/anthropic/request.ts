// Translation of a chat into a Messages API request: system text apart, turns that alternate, tool results in the user's turn, images as blocks.
import { isObject, objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import type { AiLack, ChatRequest } from '../port.ts';
import { signedThoughts } from './thoughts.ts';

/** What goes over as it is. */
const SAME = ['temperature', 'top_p', 'top_k', 'thinking', 'service_tier'];

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: WireObject[];
}

export type Prepared = { readonly body: WireObject } | { readonly fault: string };

const PARTS: ReadonlySet<unknown> = new Set(['text', 'refusal', 'image_url']);

/** What would be left out of the request, so that the model answered another. */
export function lacks({ messages, tools, functions, n }: WireObject): AiLack | null {
  if (Number(n ?? 1) > 1) return { field: 'n', rule: 'choices_not_offered', what: 'more than one answer at a time' };
  if (Array.isArray(functions) && functions.length > 0)
    return { field: 'functions', rule: 'functions_not_offered', what: 'functions in place of tools' };
  const tool = objectsOf(tools).findIndex((one) => !isObject(one.function));
  if (tool >= 0)
    return { field: `tools[${tool}].type`, rule: 'tools_not_offered', what: 'tools that are no functions' };
  for (const [i, { content }] of objectsOf(messages).entries()) {
    const part = objectsOf(content).findIndex(
      ({ type, text }) => !PARTS.has(type ?? (typeof text === 'string' ? 'text' : null)),
    );
    const what = 'parts other than text and image_url';
    if (part >= 0) return { field: `messages[${i}].content[${part}].type`, rule: 'part_not_offered', what };
  }
  return null;
}

export function requestOf({ model, body, outputTokensMax, stream }: ChatRequest): Prepared {
  const lack = lacks(body);
  if (lack !== null) return { fault: `${lack.field}: this vendor does not take ${lack.what}.` };
  const messages = objectsOf(body.messages);
  const system = messages
    .filter(isSystem)
    .flatMap(({ content }) => textsOf(content))
    .join('\n\n');
  const turns = turnsOf(messages.filter((message) => !isSystem(message)));
  if (turns === null) return { fault: 'The arguments of a tool call are no JSON.' };
  return {
    body: {
      ...Object.fromEntries(SAME.filter((name) => body[name] !== undefined).map((name) => [name, body[name]])),
      model: model.id,
      max_tokens: outputTokensMax,
      messages: turns,
      ...(system === '' ? {} : { system }),
      ...(body.stop == null ? {} : { stop_sequences: [body.stop].flat() }),
      ...(typeof body.user === 'string' ? { metadata: { user_id: body.user } } : {}),
      ...(stream ? { stream: true } : {}),
      ...toolsOf(body),
      ...formatOf(body, model.jsonSchema),
    },
  };
}

/** The tool by which a model gives an answer of a schema that it cannot give by itself; null: none is asked for, or it can. */
export function schemaTool({ body, model }: Pick<ChatRequest, 'body' | 'model'>): string | null {
  const wanted = schemaIn(body);
  return wanted !== null && isByTool(wanted, model.jsonSchema) ? wanted.name : null;
}

interface Wanted {
  readonly name: string;
  readonly schema: unknown;
}

/** Of json_object: the vendor's own schemas name all members. */
const ANY_OBJECT: Wanted = { name: 'json_answer', schema: { type: 'object', additionalProperties: true } };

function isByTool(wanted: Wanted, how: ChatRequest['model']['jsonSchema']): boolean {
  return how === 'tool' || wanted === ANY_OBJECT;
}

function schemaIn({ response_format: format }: WireObject): Wanted | null {
  if (isObject(format) && format.type === 'json_object') return ANY_OBJECT;
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.json_schema)) return null;
  const { name, schema } = format.json_schema;
  return { name: typeof name === 'string' ? name : 'answer', schema: schema ?? { type: 'object' } };
}

function formatOf(body: WireObject, how: ChatRequest['model']['jsonSchema']): WireObject {
  const wanted = schemaIn(body);
  if (wanted === null) return {};
  const { name, schema } = wanted;
  if (!isByTool(wanted, how)) return { output_config: { format: { type: 'json_schema', schema } } };
  const tool = { name, description: 'Gives the answer.', input_schema: schema };
  const own = toolsOf(body) as { readonly tools?: readonly WireObject[]; readonly tool_choice?: WireObject };
  return { tools: [...(own.tools ?? []), tool], tool_choice: choiceBeside(name, own.tool_choice) };
}

/** The answer's tool must be called; where the client may have tools called, or one of them. */
function choiceBeside(name: string, own: WireObject | undefined): WireObject {
  if (own === undefined || own.type === 'none') return { type: 'tool', name };
  return own.type === 'auto' ? { ...own, type: 'any' } : own;
}

function toolsOf({ tools, tool_choice: choice, parallel_tool_calls: parallel }: WireObject): WireObject {
  const functions = objectsOf(tools).flatMap((tool) => (isObject(tool.function) ? [tool.function] : []));
  if (functions.length === 0) return {};
  const listed = functions.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters ?? { type: 'object', properties: {} },
  }));
  const chosen = choiceOf(choice);
  const alone = parallel === false && chosen.type !== 'none' ? { disable_parallel_tool_use: true } : {};
  return { tools: listed, tool_choice: { ...chosen, ...alone } };
}

function choiceOf(choice: unknown): WireObject {
  if (choice === 'required') return { type: 'any' };
  if (choice === 'none') return { type: 'none' };
  if (isObject(choice) && isObject(choice.function)) return { type: 'tool', name: choice.function.name };
  return { type: 'auto' };
}

function isSystem({ role }: WireObject): boolean {
  return role === 'system' || role === 'developer';
}

/** Null when arguments of a tool call are no JSON. */
function turnsOf(messages: readonly WireObject[]): Turn[] | null {
  const turns: Turn[] = [];
  for (const message of messages) {
    const blocks = blocksOf(message);
    if (blocks === null) return null;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf(message: WireObject): WireObject[] | null {
  const { role, content, tool_call_id: id, tool_calls: calls } = message;
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, content: resultOf(content) }];
  // Its models take their thoughts back before all else of their turn.
  const thoughts = role === 'assistant' ? signedThoughts(message.thinking_blocks) : [];
  const said = typeof content === 'string' ? textBlocks(content) : objectsOf(content).flatMap(blockOf);
  const refused = typeof message.refusal === 'string' ? textBlocks(message.refusal) : [];
  const blocks = [...thoughts, ...said, ...refused];
  for (const call of objectsOf(calls)) {
    const { name, arguments: text } = isObject(call.function) ? call.function : { name: '', arguments: '{}' };
    try {
      blocks.push({ type: 'tool_use', id: call.id, name, input: JSON.parse(String(text || '{}')) });
    } catch {
      return null;
    }
  }
  return blocks;
}

/** A text without anything is no block there. */
function textBlocks(text: string): WireObject[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function blockOf(part: WireObject): WireObject[] {
  if (part.type !== 'image_url') return textsOf([part]).flatMap(textBlocks);
  const url = String(isObject(part.image_url) ? part.image_url.url : part.image_url);
  const data = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url);
  const source = data === null ? { type: 'url', url } : { type: 'base64', media_type: data[1], data: data[2] };
  return [{ type: 'image', source }];
}

/** A text, or blocks where there is a picture among its parts. */
function resultOf(content: unknown): string | WireObject[] {
  const blocks = objectsOf(content).flatMap(blockOf);
  return blocks.some(({ type }) => type === 'image') ? blocks : textsOf(content).join('\n');
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap(({ text, refusal }) =>
    [text ?? refusal].filter((said) => typeof said === 'string'),
  );
}
