// Reader of request bodies on Anthropic's Messages wire. Long bodies are read and counted in a thread.
import { KEY_FIELD } from '../../../core/idempotency/fingerprint.ts';
import { jsonFields } from '../../../kit/openai-wire.ts';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { digestOf, type FieldNames, readChat, type SentChat, withoutOwn } from '../calls/ask.ts';
import { requireSize } from '../calls/body-size.ts';
import { packLong } from '../calls/open.ts';
import { translate, withoutForeignThoughts } from './request.ts';

/** As they are called here. */
const names: FieldNames = { messages: 'messages', limit: 'max_tokens', format: 'output_config.format' };

interface Read {
  readonly ask: SentChat;
  readonly key: unknown;
  readonly fingerprint: string;
}

/** Throws MALFORMED_JSON, INVALID_REQUEST, VALIDATION_FAILED. */
export const readMessagesBody: BodyTask<Read> = {
  source: import.meta.url,
  id: 'ai.messages',
  run(body) {
    const sent = jsonFields(body);
    const text = body.toString('utf8');
    requireSize(sent);
    const { chat, lack, tokensBeside, unseen } = translate(sent);
    const digest = digestOf(text);
    const own = { wire: 'messages', body: withoutForeignThoughts(withoutOwn(sent)), headers: {}, digest } as const;
    // By any wire, the same chat is the same to the cache; a key repeats what was sent on this one.
    const read = readChat(chat, JSON.stringify(chat), names);
    const hasTools = Array.isArray(sent.tools) && sent.tools.length > 0;
    return {
      ask: packLong({ ...read, own, lack, tokensBeside, unseen, tools: hasTools }, text.length),
      key: sent[KEY_FIELD],
      fingerprint: digest,
    };
  },
};
