// Adapter for the Messages API of Anthropic, and of other vendors that speak it.
import { fieldsOf } from '../../../../vendors/call/answer.ts';
import { askVendor, chatBytesMax, errorInside, readJson, unreadable } from '../asking.ts';
import { Pieces } from '../pieces.ts';
import type { AiAdapter, AiCall, ChatReply, ChatRequest } from '../port.ts';
import { completionOf, MessageStream, usageOf } from './answer.ts';
import { readAnthropicError } from './errors.ts';
import { lacks, requestOf, schemaTool } from './request.ts';

const VERSION = '2023-06-01';

export const anthropicModels: AiAdapter = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  modelFields: {},
  check: (_model, serves) =>
    serves.includes('ai.chat') ? [] : [{ field: 'serves', message: 'This wire has chats only.' }],
  lacks,
  chat,
};

async function chat(call: AiCall, request: ChatRequest): Promise<ChatReply> {
  const prepared = requestOf(request);
  if ('fault' in prepared) {
    return {
      kind: 'refused',
      reason: 'VALIDATION_FAILED',
      breaker: { kind: 'none' },
      message: prepared.fault,
      vendorSaid: null,
    };
  }
  const asText = schemaTool(request);
  const asked = await askVendor(call, questionOf(call, prepared.body), readAnthropicError);
  if (asked.kind !== 'answering') return asked;
  if (asked.isStream) {
    const stream = new MessageStream(call, asText);
    return { kind: 'stream', pieces: new Pieces(call, asked.body, (event) => stream.read(event)) };
  }
  const message = fieldsOf(await readJson(asked.body, chatBytesMax(request)));
  if (message?.type === 'error') return errorInside(call, message, readAnthropicError);
  if (message === null || !Array.isArray(message.content)) return unreadable(call, message);
  return { kind: 'completed', completion: completionOf(message, asText), usage: usageOf(message.usage) };
}

/** The configured address may end in /v1, as that of the other wire does. */
function questionOf(call: AiCall, body: ChatRequest['body']) {
  const credentials: Record<string, string> = call.key === null ? {} : { 'x-api-key': call.key };
  return {
    url: `${call.baseUrl.replace(/\/v1$/, '')}/v1/messages`,
    credentials,
    headers: { 'anthropic-version': VERSION },
    body,
  };
}
