// What webhooks are told of verifications.
import { type EventKind, type EventWords, eventKind, inWords, membersOf } from '../../kit/event-kind.ts';
import { verificationSchema } from './schemas.ts';

const verified = {
  success: true,
  reason: 'ok',
  challenge_id: 'cap_0vTq3mXkfR7bYc1LpZs8Ne',
  action: 'signup',
  difficulty: 'normal',
  hostname: 'www.example.com',
  challenge_at: '2026-11-01T12:00:00.000Z',
  took_ms: 731,
  verified_at: '2026-11-01T12:00:04.118Z',
};
const failed = { ...verified, success: false, reason: 'replayed' };

const of = (action: unknown) => (action === null ? '' : ` for ${action}`);
const path = () => '/captcha';
const words: Readonly<Record<string, EventWords>> = {
  'captcha.verified': {
    one: ({ action }) => `Captcha solved${of(action)}`,
    many: (_, count) => `${count} captchas solved`,
    ...{ path, tone: 'good' },
  },
  'captcha.failed': {
    one: ({ action, reason }) => `Captcha failed${of(action)}: ${String(reason).replace('_', ' ')}`,
    ...{ path, tone: 'warning' },
  },
};

export const captchaEvents: readonly EventKind[] = inWords(words, [
  eventKind('captcha.verified', 'A captcha was solved.', membersOf(verificationSchema, verified)),
  eventKind('captcha.failed', 'A captcha was not solved.', membersOf(verificationSchema, failed)),
]);
