// Carriers in the operator's file: the fields of their entries, and the price of a segment.
import Type from 'typebox';
import { nanosOfUsd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { Adapter, ModelFamily, ModelRow } from '../../../vendors/file/port.ts';
import { SENDER_PATTERN } from '../numbers.ts';

export const SEND = 'sms.send';
/** What a segment costs in the sandbox. */
export const SANDBOX_NANOS = 7_900_000n;
/** Whom messages of the sandbox are from, unless the call says. */
export const SANDBOX_FROM = '+15005550006';

const sender = Type.String({
  pattern: SENDER_PATTERN,
  description: 'a number in E.164, a short code, or a name of up to 11 characters',
});
const from = Type.Union([sender, Type.Array(sender, { minItems: 1, maxItems: 200 })], {
  description: 'a sender (a number in E.164, a short code, or a name of up to 11 characters), or a list of them',
});
const amount = Type.Number({ minimum: 0, maximum: 100, description: 'USD per segment' });
const price = Type.Union([Type.Literal('free'), amount], { description: 'USD per segment, or free' });

const twilio: Adapter = {
  name: 'twilio',
  baseUrl: 'https://api.twilio.com',
  modelFields: {},
  modelless: {
    fields: {
      account_sid: Type.String({ pattern: '^AC[0-9a-f]{32}$', description: 'AC and 32 hex digits' }),
      from,
      price,
    },
    secrets: ['auth_token'],
  },
};

const smpp: Adapter = {
  name: 'smpp',
  modelFields: {},
  modelless: {
    fields: {
      system_id: Type.String({ pattern: '^[ -~]{1,15}$', description: '1 to 15 characters' }),
      system_type: Type.Optional(Type.String({ pattern: '^[ -~]{0,12}$', description: 'up to 12 characters' })),
      from,
      price,
      window: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: '1 to 1000' })),
      long_messages: Type.Optional(Type.Enum(['udh', 'payload'], { description: 'udh or payload' })),
    },
    secrets: ['password'],
    protocols: ['smpp:', 'ssmpp:'],
  },
};

export interface SmppOptions {
  readonly system_id: string;
  readonly system_type?: string;
  /** Submits that may be unanswered at once. */
  readonly window?: number;
  readonly long_messages?: 'udh' | 'payload';
}

/** Whom messages may be from; the first is usual. */
export function sendersOf({ options }: ModelRow): readonly [string, ...string[]] {
  const said = options.from as string | [string, ...string[]] | undefined;
  if (said === undefined) return [SANDBOX_FROM];
  return typeof said === 'string' ? [said] : said;
}

/** What a segment costs the caller, nano-USD with markup. */
export function segmentNanos(row: ModelRow): bigint {
  const nanos = row.price === 'free' ? 0n : (nanosOfUsd(row.price as number) ?? 0n);
  return quoteOf(row.vendor, nanos, 1n);
}

export const smsFamily: ModelFamily = {
  name: 'sms',
  capabilities: [SEND],
  traits: Type.Object({}),
  price: amount,
  timeouts: [],
  sandbox: [{ id: 'sandbox', price: 0.0079 }],
  serves: () => [SEND],
  lowestNanos: segmentNanos,
  adapters: () => [twilio, smpp],
};
