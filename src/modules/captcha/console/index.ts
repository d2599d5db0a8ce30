// Captcha: what verifications found, and how a form gets one.
import { codeBlock, copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ModuleConsole, View } from '../../../kit/console/page.ts';
import { figures } from '../../../kit/console/table.ts';
import { count, shareText } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { stats } from '../capabilities/stats.ts';
import { verify } from '../capabilities/verify.ts';

const labels = {
  ok: 'Solved',
  expired: 'Expired',
  invalid: 'Invalid',
  replayed: 'Replayed',
  action_mismatch: 'Misused',
};
const outcomes = Object.entries(labels) as [keyof typeof labels, string][];

export const captchaConsole: ModuleConsole = {
  pages: [
    {
      ...{ name: 'captcha', path: '/captcha', needs: stats, show },
      nav: { label: 'Captcha', key: 'C', group: 'reach', holds: null },
    },
  ],
};

async function show(visit: Visit): Promise<View> {
  const widget = `<altcha-widget challenge="${visit.baseUrl}/v1/captcha/altcha?key=PUBLIC_KEY&action=signup"></altcha-widget>`;
  const content = html`<h1>Captcha</h1>
<p class="quiet">A form costs its sender about a second of processor time. This makes abuse in bulk expensive; it does not tell people from programs.</p>
${panel(visit, 'Last 30 days', await visit.call(stats), ({ items }) => totals(items))}
<h2>Protect a form</h2>
<p>In the form of the page, with <a href="${visit.path('/keys')}">a key</a> of the scope <code>captcha.challenge</code> and no other, and the widget (<code>npm install altcha</code>):</p>
${copiedBlock(html`<pre class="text" tabindex="0" aria-label="In the page">${widget}</pre>`, 'the code')}
<p>On your server, with what the form brought in its field <code>altcha</code>:</p>
${codeBlock('server', visit.samples([[verify, { payload: 'ALTCHA', action: 'signup' }]]))}`;
  return { title: 'Captcha', content };
}

function totals(days: readonly ItemOf<typeof stats>[]): Html {
  const sums = outcomes.map(([reason, label]) => ({ label, sum: days.reduce((total, day) => total + day[reason], 0) }));
  const all = sums.reduce((total, { sum }) => total + sum, 0);
  const shares = sums.map(({ label, sum }) => [label, count(sum), shareText(sum, all)] as const);
  return figures([['Verifications', count(all)], ...shares]);
}
