// Translation of a request on the responses wire into one of chat/completions. Nothing is stored here, so references to stored objects are
// refused. Fields that chat/completions lacks are refused too, by their name on this wire.
import { isObject, objectsOf, type WireObject } from '../../../lib/chat/body.ts';
import { invalidField, type Problem } from '../../../problems/problem.ts';
import { type Sent, wholeOf } from '../calls/ask.ts';

/** Not passed on: said otherwise there, without meaning there, or told again in the answer alone. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...[
    'input',
    'instructions',
    'max_output_tokens',
    'tools',
    'tool_choice',
    'text',
    'reasoning',
    'store',
    'metadata',
    'include',
  ],
  ...[
    'truncation',
    'max_tool_calls',
    'n',
    'top_logprobs',
    'background',
    'conversation',
    'previous_response_id',
    'prompt',
  ],
]);

/** What this service does not do; null and false ask for nothing. */
const ABSENT: Readonly<Record<string, string>> = {
  previous_response_id: 'Responses are not stored: send the whole conversation as input.',
  conversation: 'Conversations are not stored: send the whole conversation as input.',
  background: 'There are no responses in the background.',
  prompt: 'Prompts are not stored: send instructions and input.',
  top_logprobs: 'There are no log probabilities on this wire; POST /v1/chat/completions has them.',
};

/** The body of chat/completions that asks the same. Throws VALIDATION_FAILED. */
export function chatBodyOf(sent: Sent): WireObject {
  for (const [name, message] of Object.entries(ABSENT)) {
    if (sent[name] != null && sent[name] !== false && sent[name] !== 0) throw invalidField(name, 'not_here', message);
  }
  const passed = Object.fromEntries(Object.entries(sent).filter(([name]) => !NOT_PASSED.has(name)));
  const format = formatOf(fieldsOf(sent, 'text').format);
  const { effort } = fieldsOf(sent, 'reasoning');
  const { verbosity } = fieldsOf(sent, 'text');
  const tools = toolsOf(sent.tools);
  return {
    ...passed,
    messages: messagesOf(sent),
    ...optionalMember('max_completion_tokens', wholeOf(sent, 'max_output_tokens', 1)),
    ...optionalMember('response_format', format),
    ...optionalMember('reasoning_effort', effort),
    ...optionalMember('verbosity', verbosity),
    ...(tools.length === 0 ? {} : { tools, ...optionalMember('tool_choice', choiceOf(sent.tool_choice)) }),
  };
}

function optionalMember(name: string, value: unknown): WireObject {
  return value == null ? {} : { [name]: value };
}

function fieldsOf(sent: Sent, name: string): WireObject {
  const value = sent[name] ?? {};
  if (isObject(value)) return value;
  throw invalidField(name, 'type', `${name} is an object.`);
}

function messagesOf({ instructions, input }: Sent): WireObject[] {
  const messages: WireObject[] = [];
  if (typeof instructions === 'string') messages.push({ role: 'system', content: instructions });
  else if (instructions != null) throw invalidField('instructions', 'type', 'instructions is a text.');
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0)
    throw invalidField('input', 'type', 'input is a text, or a list of at least one item.');
  for (const [i, item] of input.entries()) addItem(messages, item, `input[${i}]`);
  if (messages.length === 0) throw invalidField('input', 'empty', 'input has nothing that a model is told.');
  return messages;
}

function addItem(messages: WireObject[], item: unknown, at: string): void {
  if (!isObject(item)) throw invalidField(at, 'type', 'An item is an object.');
  const { type = 'message' } = item;
  if (type === 'message') messages.push(messageOf(item, at));
  else if (type === 'function_call') addCall(messages, item, at);
  else if (type === 'function_call_output') messages.push(resultOf(item, at));
  // What a model thought is its own: other models cannot read it.
  else if (type !== 'reasoning')
    throw unsupportedHere(`${at}.type`, 'Items are message, function_call, function_call_output.');
}

function messageOf({ role, content }: WireObject, at: string): WireObject {
  const name = textOf(role, `${at}.role`);
  if (typeof content === 'string') return { role: name, content };
  if (!Array.isArray(content)) throw invalidField(`${at}.content`, 'type', 'content is a text or a list of parts.');
  const parts = content.map((part, i) => partOf(part, `${at}.content[${i}]`));
  return { role: name, content: name === 'assistant' ? joinText(parts) : parts };
}

/** What an assistant has said is text, for the most vendors. */
function joinText(parts: readonly WireObject[]): string {
  return parts.map(({ text, refusal }) => text ?? refusal ?? '').join('');
}

function partOf(part: unknown, at: string): WireObject {
  if (!isObject(part)) throw invalidField(at, 'type', 'A part is an object.');
  if (part.type === 'input_text' || part.type === 'output_text')
    return { type: 'text', text: textOf(part.text, `${at}.text`) };
  if (part.type === 'refusal') return { type: 'refusal', refusal: textOf(part.refusal, `${at}.refusal`) };
  if (part.type !== 'input_image')
    throw unsupportedHere(`${at}.type`, 'Parts are input_text, output_text, refusal, input_image.');
  if (part.file_id != null) throw unsupportedHere(`${at}.file_id`, 'Files are not stored: send image_url.');
  const url = textOf(part.image_url, `${at}.image_url`);
  return { type: 'image_url', image_url: { url, ...optionalMember('detail', part.detail) } };
}

/** A call belongs to what the assistant said before it. */
function addCall(messages: WireObject[], item: WireObject, at: string): void {
  const call = {
    id: textOf(item.call_id, `${at}.call_id`),
    type: 'function',
    function: { name: textOf(item.name, `${at}.name`), arguments: textOf(item.arguments, `${at}.arguments`) },
  };
  const before = messages.at(-1);
  if (before?.role !== 'assistant') messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  else messages[messages.length - 1] = { ...before, tool_calls: [...objectsOf(before.tool_calls), call] };
}

function resultOf({ call_id, output }: WireObject, at: string): WireObject {
  const id = textOf(call_id, `${at}.call_id`);
  const content = Array.isArray(output)
    ? output.map((part, i) => partOf(part, `${at}.output[${i}]`))
    : textOf(output, `${at}.output`);
  return { role: 'tool', tool_call_id: id, content };
}

function toolsOf(sent: unknown): WireObject[] {
  if (sent != null && !Array.isArray(sent)) throw invalidField('tools', 'type', 'tools is a list.');
  return (sent ?? []).map((tool: unknown, i: number) => {
    const { type, name, description, parameters, strict }: WireObject = isObject(tool) ? tool : {};
    if (type !== 'function')
      throw unsupportedHere(`tools[${i}].type`, 'Tools are functions of yours; there are no hosted ones.');
    const called = { name: textOf(name, `tools[${i}].name`), ...optionalMember('description', description) };
    return {
      type,
      function: { ...called, ...optionalMember('parameters', parameters), ...optionalMember('strict', strict) },
    };
  });
}

function choiceOf(sent: unknown): unknown {
  if (sent == null || typeof sent === 'string') return sent;
  if (isObject(sent) && sent.type === 'function')
    return { type: 'function', function: { name: textOf(sent.name, 'tool_choice.name') } };
  throw unsupportedHere('tool_choice', 'tool_choice is none, auto, required, or a function.');
}

function formatOf(sent: unknown): WireObject | null {
  if (sent == null) return null;
  const { type, ...schema }: WireObject = isObject(sent) ? sent : {};
  if (type === 'text') return null;
  if (type === 'json_object') return { type };
  if (type === 'json_schema') return { type, json_schema: schema };
  throw unsupportedHere('text.format.type', 'Formats are text, json_object, json_schema.');
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw invalidField(field, 'type', 'This is a text.');
}

function unsupportedHere(field: string, message: string): Problem {
  return invalidField(field, 'not_here', message);
}
