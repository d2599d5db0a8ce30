// Fields shared by model calls.
import Type from 'typebox';
import { TTL_HEADER } from '../calls/ask.ts';
import { STREAM_HEADER } from '../calls/stream-to.ts';
import { CACHE_TTL_SECONDS_MAX } from '../limits.ts';

export const modelField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 300,
    description:
      '`auto` (also when null or absent), `cheapest`, `smartest`, `vendor/model`, or a model that any vendor has.',
  }),
);

export const cacheField = Type.Optional(
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: CACHE_TTL_SECONDS_MAX,
    description:
      'Keeps the answer so long: exactly the same request, to the same model, is answered with it for nothing.',
  }),
);

export const cacheHeader = { [TTL_HEADER]: 'Seconds, in place of cache_ttl_seconds.' };

export const streamToField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    maxLength: 200,
    description:
      'A realtime channel. What the model says is also published to it, about every 50 ms, as events ai.start, ai.delta with text, and ai.end or ' +
      'ai.failed: a page that listens by GET /v1/realtime/stream goes on after a reload. Each event costs what realtime.publish costs.',
  }),
);

export const streamToHeader = { [STREAM_HEADER]: 'A realtime channel, in place of stream_to.' };

export const routingFields = {
  vendor: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Asks this vendor and no other.' }),
  ),
  cross_region: Type.Optional(Type.Boolean({ description: 'Whether a vendor of the other region may be asked too.' })),
};
