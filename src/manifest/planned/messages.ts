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
  eventKind('email.queued', 'An e-mail was accepted and waits to be sent.', email('queued')),
  eventKind('email.sent', 'An e-mail was handed to the receiving server.', email('sent')),
  eventKind('email.delivered', 'The receiving server accepted an e-mail.', { ...email('delivered'), ...recipient }),
  eventKind('email.opened', 'A recipient opened an e-mail.', { ...email('delivered'), ...recipient }),
  eventKind('email.clicked', 'A recipient followed a link of an e-mail.', {
    ...email('delivered'),
    ...recipient,
    url: text('The link.', 'https://example.org/report'),
  }),
  eventKind('email.bounced', 'An e-mail was refused for good.', { ...email('bounced'), ...recipient, ...reply }),
  eventKind('email.complained', 'A recipient reported an e-mail as unwanted.', { ...email('delivered'), ...recipient }),
  eventKind('email.deferred', 'The receiving server asked to try again later.', {
    ...email('deferred'),
    ...recipient,
    ...reply,
    next_attempt_at: instant('When it is tried again.', '2026-11-01T12:05:00.000Z'),
  }),
  eventKind('email.cancelled', 'An e-mail was cancelled before it was sent.', email('cancelled')),
  eventKind('email.unsubscribed', 'A recipient unsubscribed.', { ...email('delivered'), ...recipient }),
  eventKind('email.auto_suppressed', 'An address was put on the suppression list automatically.', {
    ...recipient,
    reason: word('Why.', 'bounce', 'complaint'),
  }),
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
  eventKind('sms.queued', 'A text message was accepted and waits to be sent.', sms('queued')),
  eventKind('sms.sent', 'A text message was handed to the carrier.', sms('sent')),
  eventKind('sms.delivered', 'The carrier reported a text message as delivered.', sms('delivered')),
  eventKind('sms.failed', 'A text message could not be delivered.', {
    ...sms('failed'),
    error_code: text('Why.', 'unreachable'),
  }),
  eventKind('sms.inbound', 'A text message was received.', {
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
  eventKind('captcha.verified', 'A captcha was solved.', captcha('ok')),
  eventKind('captcha.failed', 'A captcha was not solved.', captcha('expired')),
  eventKind('realtime.channel.occupied', 'A channel got its first subscriber.', channel),
  eventKind('realtime.channel.vacated', 'A channel lost its last subscriber.', channel),
  eventKind('realtime.member.added', 'A member joined a presence channel.', { ...channel, ...user }),
  eventKind('realtime.member.removed', 'A member left a presence channel.', { ...channel, ...user }),
];
