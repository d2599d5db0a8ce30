// Bodies of that wire, read and counted: in a thread when they are long.
import { fingerprintPrefix, KEY_FIELD, requestFingerprint } from '../../../core/idempotency/fingerprint.ts';
import { jsonFields } from '../../../manifest/openai-wire.ts';
import type { BodyTask } from '../../../manifest/raw-route.ts';
import { type ChatAsk, readChat } from '../calls/ask.ts';
import { type EmbedAsk, readEmbed } from '../calls/embed.ts';

interface Read<Ask> {
  readonly ask: Ask;
  /** The idempotency key as it stands in the body; undefined: it does not. */
  readonly key: unknown;
  readonly fingerprint: string;
}

/** In which form an answer comes makes no other request of it. */
const NOT_FINGERPRINTED: ReadonlySet<string> = new Set([KEY_FIELD, 'stream', 'stream_options', 'encoding_format']);
const PREFIX = fingerprintPrefix({});

/** Both throw INVALID_REQUEST, VALIDATION_FAILED. */
export const readChatBody: BodyTask<Read<ChatAsk>> = {
  source: import.meta.url,
  id: 'ai.openai.chat',
  run: (body) => read(body, readChat),
};
export const readEmbedBody: BodyTask<Read<EmbedAsk>> = {
  source: import.meta.url,
  id: 'ai.openai.embed',
  run: (body) => read(body, readEmbed),
};

function read<Ask>(body: Buffer, readAsk: (sent: Readonly<Record<string, unknown>>) => Ask): Read<Ask> {
  const sent = jsonFields(body);
  const fingerprint = requestFingerprint(PREFIX, body.toString('utf8'), NOT_FINGERPRINTED);
  return { ask: readAsk(sent), key: sent[KEY_FIELD], fingerprint };
}
