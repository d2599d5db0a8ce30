// What webhooks are told of verifications: what verify answers.
import { type EventKind, eventKind, membersOf } from '../../kit/event-kind.ts';
import { verify } from './capabilities/verify.ts';

const failed = {
  ...{ success: false, reason: 'replayed', challenge_id: 'cap_0vTq3mXkfR7bYc1LpZs8Ne', action: 'signup' },
  ...{ difficulty: 'normal', hostname: 'www.example.com', challenge_at: '2026-11-01T12:00:00.000Z', took_ms: 731 },
  verified_at: '2026-11-01T12:00:04.118Z',
};
const verified = { ...failed, success: true, reason: 'ok' };
const of = (action: unknown) => (action === null ? '' : ` for ${action}`);
const path = () => '/captcha';

export const captchaEvents: readonly EventKind[] = [
  {
    ...eventKind('captcha.verified', 'A captcha was solved.', membersOf(verify.output, verified)),
    words: {
      one: ({ action }) => `Captcha solved${of(action)}`,
      many: (_, count) => `${count} captchas solved`,
      ...{ path, tone: 'good' },
    },
  },
  {
    ...eventKind('captcha.failed', 'A captcha was not solved.', membersOf(verify.output, failed)),
    words: { one: ({ action, reason }) => `Captcha failed${of(action)}: ${reason}`, path, tone: 'warning' },
  },
];
