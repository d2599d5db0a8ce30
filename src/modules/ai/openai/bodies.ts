// Readers of request bodies on the wire of OpenAI's chat completions and embeddings. Long bodies are read and counted in a thread.
import { KEY_FIELD } from '../../../core/idempotency/fingerprint.ts';
import { jsonFields } from '../../../kit/openai-wire.ts';
import type { BodyTask } from '../../../kit/raw-route.ts';
import { digestOf, readChat, type SentChat } from '../calls/ask.ts';
import { readEmbed, type SentEmbed } from '../calls/embed.ts';
import { packLong } from '../calls/open.ts';

interface Read<Ask> {
  readonly ask: Ask;
  /** The idempotency key as it stands in the body; undefined: it does not. */
  readonly key: unknown;
  readonly fingerprint: string;
}

/** Both throw MALFORMED_JSON, INVALID_REQUEST, VALIDATION_FAILED. */
export const readChatBody: BodyTask<Read<SentChat>> = {
  source: import.meta.url,
  id: 'ai.openai.chat',
  run: (body) => readBody(body, (sent, text) => packLong(readChat(sent, text), text.length)),
};
export const readEmbedBody: BodyTask<Read<SentEmbed>> = {
  source: import.meta.url,
  id: 'ai.openai.embed',
  run: (body) => readBody(body, readEmbed),
};

function readBody<Ask>(
  body: Buffer,
  readAsk: (sent: Readonly<Record<string, unknown>>, text: string) => Ask,
): Read<Ask> {
  const sent = jsonFields(body);
  const text = body.toString('utf8');
  return { ask: readAsk(sent, text), key: sent[KEY_FIELD], fingerprint: digestOf(text) };
}
