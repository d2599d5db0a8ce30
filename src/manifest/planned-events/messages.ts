// Events of e-mail, text messages, captchas and channels, whose modules are not built.
import {
  type EventKind,
  eventKind,
  instant,
  number,
  otherwise,
  text,
  textOrNull,
  texts,
  whole,
  word,
} from '../event-kind.ts';

const email = (status: string) => ({
  email_id: text('Id of the e-mail.', 'eml_0vTq3mXkfR7bYc1LpZs8Ne'),
  from: text('Sender.', 'ops@example.org'),
  to: texts('Recipients.', 'ada@example.com'),
  subject: text('Subject.', 'Report of October'),
  status: text('Status of the e-mail.', status),
  tags: texts('Tags it was sent with.', 'report'),
  created_at: instant('When it was accepted.', '2026-11-01T11:59:58.000Z'),
});
const recipient = {
  address: text('The recipient it is about.', 'ada@example.com'),
  at: instant('When it happened.'),
};
const reply = {
  code: textOrNull('Status code of the receiving server.', '5.1.1'),
  detail: textOrNull('What the receiving server said.', 'no such user'),
};

const emails: readonly EventKind[] = [
  eventKind('email.queued', email('queued')),
  eventKind('email.sent', email('sent')),
  eventKind('email.delivered', { ...email('delivered'), ...recipient }),
  eventKind('email.opened', { ...email('delivered'), ...recipient }),
  eventKind('email.clicked', {
    ...email('delivered'),
    ...recipient,
    url: text('The link.', 'https://example.org/report'),
  }),
  eventKind('email.bounced', { ...email('bounced'), ...recipient, ...reply }),
  eventKind('email.complained', { ...email('delivered'), ...recipient }),
  eventKind('email.deferred', {
    ...email('deferred'),
    ...recipient,
    ...reply,
    next_attempt_at: instant('When it is tried again.', '2026-11-01T12:05:00.000Z'),
  }),
  eventKind('email.cancelled', email('cancelled')),
  eventKind('email.unsubscribed', { ...email('delivered'), ...recipient }),
  eventKind('email.auto_suppressed', { ...recipient, reason: word('Why.', 'bounce', 'complaint') }),
];

const sms = (status: string) => ({
  sms_id: text('Id of the text message.', 'sms_0vTq3mXkfR7bYc1LpZs8Ne'),
  from: text('Sender.', '+15550100'),
  to: text('Recipient, E.164.', '+15550123'),
  segments: whole('Segments it takes.', 1),
  status: text('Status of the text message.', status),
  created_at: instant('When it was accepted.', '2026-11-01T11:59:58.000Z'),
});

const textMessages: readonly EventKind[] = [
  ...['queued', 'sent', 'delivered'].map((status) => eventKind(`sms.${status}`, sms(status))),
  eventKind('sms.failed', { ...sms('failed'), error_code: text('Why.', 'unreachable') }),
  eventKind('sms.inbound', {
    sms_id: text('Id of the text message.', 'sms_0vTq3mXkfR7bYc1LpZs8Ne'),
    from: text('Sender.', '+15550123'),
    to: text('The number it was sent to.', '+15550100'),
    text: text('What it says.', 'STOP'),
    received_at: instant('When it was received.'),
  }),
];

const captcha = (reason: string) => ({
  challenge_id: text('Id of the challenge.', 'cap_0vTq3mXkfR7bYc1LpZs8Ne'),
  action: textOrNull('Action it was made for.', 'login'),
  reason: text('`ok`, expired, invalid, replayed or action_mismatch.', reason),
  took_ms: number('From the challenge to its solution.', 840),
});

const channel = { channel: text('Name of the channel.', 'presence-room-1') };
const user = {
  user_id: text('The member.', 'ada'),
  user_info: otherwise(text('What the member is shown with.', 'Ada')),
};

export const plannedMessageEvents: readonly EventKind[] = [
  ...emails,
  ...textMessages,
  eventKind('captcha.verified', captcha('ok')),
  eventKind('captcha.failed', captcha('expired')),
  eventKind('realtime.channel.occupied', channel),
  eventKind('realtime.channel.vacated', channel),
  eventKind('realtime.member.added', { ...channel, ...user }),
  eventKind('realtime.member.removed', { ...channel, ...user }),
];
