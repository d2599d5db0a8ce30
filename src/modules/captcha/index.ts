// The captcha module: challenges that cost their solver processor time, and solutions that count once.
import { removerOf } from '../../core/background/sweeper/sweep.ts';
import { type EventKind, eventKind, membersOf } from '../../kit/event-kind.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import type { Services } from '../../kit/services.ts';
import { challenge } from './capabilities/challenge.ts';
import { STATS_DAYS, stats } from './capabilities/stats.ts';
import { verify } from './capabilities/verify.ts';
import { siteverifyRoute, widgetRoute } from './routes.ts';

const failed = {
  success: false,
  reason: 'replayed',
  challenge_id: 'cap_0vTq3mXkfR7bYc1LpZs8Ne',
  action: 'signup',
  difficulty: 'normal',
  hostname: 'www.example.com',
  challenge_at: '2026-11-01T12:00:00.000Z',
  took_ms: 731,
  verified_at: '2026-11-01T12:00:04.118Z',
};
const verified = { ...failed, success: true, reason: 'ok' };
const of = (action: unknown) => (action === null ? '' : ` for ${action}`);
const path = () => '/captcha';
/** What webhooks are told: what verify answers. */
const events: readonly EventKind[] = [
  {
    ...eventKind('captcha.verified', 'A captcha was solved.', membersOf(verify.output, verified)),
    words: {
      one: ({ action }) => `Captcha solved${of(action)}`,
      many: (_, count) => `${count} captchas solved`,
      path,
      tone: 'good',
    },
  },
  {
    ...eventKind('captcha.failed', 'A captcha was not solved.', membersOf(verify.output, failed)),
    words: { one: ({ action, reason }) => `Captcha failed${of(action)}: ${reason}`, path, tone: 'critical' },
  },
];

// A solution of a challenge that has ended counts no more, whether it has before or not.
const forgetSpent = removerOf({ table: 'captcha.spent', key: 'challenge_id', at: 'expires_at', keepDays: 0 });
const forgetDays = removerOf({ table: 'captcha.tally', key: 'reason', at: 'day', keepDays: STATS_DAYS + 1 });

export const captcha = defineModule<Services>({
  name: 'captcha',
  summary: 'Challenges that make abuse of your forms cost processor time, without puzzles and trackers.',
  status: 'beta',
  capabilities: [challenge, verify, stats],
  clients: [
    {
      client: "ALTCHA's widget, siteverify",
      address: '{base_url}/v1/captcha',
      serves: [challenge.id, verify.id],
      use: 'challenges at /altcha?key=, verification as reCAPTCHA, hCaptcha and Turnstile do',
    },
  ],
  console: async () => (await import('./console/index.ts')).captchaConsole,
  prices: { 'captcha.verify': { unit: 'verification', nanosPerUnit: 10_000n } },
  events,
  rawRoutes: [widgetRoute, siteverifyRoute],
  start: (core) => core,
  isEmpty: noRowIn('captcha.tally'),
  sweeps: ({ db }) => [
    { name: 'captcha.spent', intervalMs: 60_000, run: forgetSpent(db) },
    { name: 'captcha.tally', intervalMs: 3_600_000, run: forgetDays(db) },
  ],
});
