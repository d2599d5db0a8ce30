import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { historySecondsOf } from '../app/settings.ts';
import { LISTEN } from '../limits.ts';
import { type Message, messageId, seqOfMessage } from '../publish/message.ts';
import { channelField, messageIdField, messageSchema } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';
import { messageJson, readHistory } from '../stream/subscription.ts';

const LIMIT_MAX = 100;
const LAST = 2n ** 63n - 1n;

export const history = defineCapability<RealtimeState>()({
  id: LISTEN,
  method: 'GET',
  path: '/v1/realtime/history/{channel}',
  summary: 'Shows what was published to a channel.',
  description:
    'Messages of the channel, oldest first, as long as the account keeps them. Send the last message_id as after to go on. GET ' +
    '/v1/realtime/stream?channels=a,b tells messages as they come, as Server-Sent Events, and resumes by Last-Event-ID.',
  keywords: ['channel history', 'missed messages', 'rewind a channel', 'server-sent events stream', 'eventsource'],
  input: Type.Object({
    channel: channelField,
    after: Type.Optional(messageIdField('Only messages behind this one.')),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMIT_MAX,
        default: 20,
        description: 'Messages, 1 to 100; 20 when not sent.',
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(messageSchema, { description: 'Messages in the order of their delivery.' }),
    last_message_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Send it as after to go on; null: there is nothing.',
    }),
    has_more: Type.Boolean({ description: 'Whether there are further messages.' }),
  }),
  examples: [
    {
      title: 'Of the last two minutes',
      before: [{ capability: 'realtime.publish', input: { channel: 'news', event: 'headline', data: 'Hello' } }],
      input: { channel: 'news' },
      expect: { has_more: false },
    },
  ],
  async run({ ctx, input, state: { core } }) {
    const [nowMs, seconds] = await Promise.all([clockNow(core.db), historySecondsOf(core.db, ctx.accountId)]);
    const oldest = sequenceAt(nowMs - seconds * 1_000);
    const sent = input.after === undefined ? 0n : (seqOfMessage(input.after) ?? 0n);
    const span = { channels: [input.channel], after: sent > oldest ? sent : oldest, upTo: LAST, nowMs };
    const limit = input.limit ?? 20;
    const found: Message[] = [];
    for await (const page of readHistory(core.db, ctx.accountId, span, limit + 1)) {
      found.push(...page);
      if (found.length > limit) break;
    }
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const lastId = last === undefined ? (input.after ?? null) : messageId(last.seq);
    const text = `{"items":[${items.map(messageJson).join()}],"last_message_id":${JSON.stringify(lastId)},"has_more":${found.length > limit}}`;
    return { data: new JsonText(text) };
  },
});
