// Adapter for the Messages API of Anthropic, and of other vendors that speak it.
import { Type } from 'typebox';
import { fieldsOf } from '../../../../vendors/call/answer.ts';
import { askVendor, chatBytesMax, errorInside, readJson, unreadable } from '../asking.ts';
import { Pieces } from '../pieces.ts';
import type { AiAdapter, AiCall, ChatReply, ChatRequest } from '../port.ts';
import { completionOf, MessageStream, usageOf } from './answer.ts';
import { passOn } from './as-sent.ts';
import { readAnthropicError } from './errors.ts';
import { questionOf } from './question.ts';
import { lacks, requestOf, schemaTool } from './request.ts';

export const anthropicModels: AiAdapter = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  modelFields: {
    betas: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 })),
  },
  check: (_model, serves) =>
    serves.includes('ai.chat') ? [] : [{ field: 'serves', message: 'This wire has chats only.' }],
  lacks,
  chat,
  own: { wire: 'messages', speaks: () => true, ask: passOn },
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
