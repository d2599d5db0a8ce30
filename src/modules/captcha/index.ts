// The captcha module: challenges that cost their solver processor time, and solutions that count once.
import type { Core } from '../../core/context.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { challenge } from './capabilities/challenge.ts';
import { stats } from './capabilities/stats.ts';
import { verify } from './capabilities/verify.ts';
import { captchaEvents } from './events.ts';
import { VERIFY } from './limits.ts';
import { siteverifyRoute } from './siteverify.ts';
import { captchaSweeps } from './sweeps.ts';
import { widgetRoute } from './widget.ts';

export const captcha = defineModule<Core>({
  name: 'captcha',
  summary: 'Challenges that make abuse of your forms cost processor time, without puzzles and trackers.',
  status: 'beta',
  capabilities: [challenge, verify, stats],
  clients: [
    {
      client: "ALTCHA's widget, siteverify",
      address: '{base_url}/v1/captcha',
      use: 'challenges at /altcha?key=, verification as reCAPTCHA, hCaptcha and Turnstile do',
      serves: ['captcha.challenge', VERIFY],
    },
  ],
  console: async () => (await import('./console/index.ts')).captchaConsole,
  prices: { [VERIFY]: { unit: 'verification', nanosPerUnit: 10_000n } },
  events: captchaEvents,
  rawRoutes: [widgetRoute, siteverifyRoute],
  start: (core) => core,
  isEmpty: noRowIn('captcha.tally'),
  sweeps: (core) => captchaSweeps(core.db),
});
