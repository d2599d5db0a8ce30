// Webhook events of SMS messages.
import { type EventKind, type EventWords, eventKind, inWords, membersOf, withoutCall } from '../../kit/event-kind.ts';
import { smsSchema } from './schemas.ts';

const sms = {
  sms_id: 'sms_0vTq3mXkfR7bYc1LpZs8Ne',
  direction: 'outbound',
  to: '+12025550123',
  from: '+12025550100',
  text: 'Your table is ready.',
  encoding: 'gsm7',
  segments: 1,
  status: 'queued',
  error_code: null as string | null,
  detail: null,
  vendor: 'carrier',
  captured: false,
  cost_usd: 0,
  created_at: '2026-11-01T12:00:00.000Z',
  sent_at: null as string | null,
  ended_at: null as string | null,
};
const sent = { ...sms, status: 'sent', cost_usd: 0.0079, sent_at: '2026-11-01T12:00:00.214Z' };
const ended = { ...sent, ended_at: '2026-11-01T12:00:03.021Z' };
const inbound = { ...sms, direction: 'inbound', to: sms.from, from: sms.to, text: 'Thanks!', status: 'received' };

const path: EventWords['path'] = (of) => `/sms/${of.sms_id}`;
const smsWords = (what: string, tone: EventWords['tone']): EventWords => ({
  one: (of) => `SMS to ${of.to} ${what}`,
  many: (_, count) => `${count} SMS ${what}`,
  path,
  tone,
});

const words: Readonly<Record<string, EventWords>> = {
  'sms.queued': smsWords('accepted', undefined),
  'sms.sent': smsWords('sent', undefined),
  'sms.delivered': smsWords('delivered', 'good'),
  'sms.failed': {
    one: (of) => `SMS to ${of.to} failed: ${of.error_code ?? 'no reason given'}`,
    path,
    tone: 'critical',
  },
  'sms.inbound': { one: (of) => `SMS from ${of.from}`, path },
};

const byReceipt = "The carrier's receipt arrived.";

export const smsEvents: readonly EventKind[] = withoutCall(
  {
    'sms.delivered': byReceipt,
    'sms.failed': byReceipt,
    'sms.inbound': 'A carrier delivered a message to a number of the service.',
  },
  inWords(words, [
    eventKind('sms.queued', 'A text message was accepted and waits to be sent.', membersOf(smsSchema, sms)),
    eventKind('sms.sent', 'A text message was handed to the carrier.', membersOf(smsSchema, sent)),
    eventKind(
      'sms.delivered',
      'The carrier reported a text message as delivered.',
      membersOf(smsSchema, { ...ended, status: 'delivered' }),
    ),
    eventKind(
      'sms.failed',
      'A text message could not be delivered.',
      membersOf(smsSchema, { ...ended, status: 'failed', error_code: '30003' }),
    ),
    eventKind('sms.inbound', 'A text message was received.', membersOf(smsSchema, inbound)),
  ]),
);
