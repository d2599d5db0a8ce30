// Captcha: what verifications found, how a form gets one, and a challenge that this tab solves.
import { codeBlock, copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type ModuleConsole, type View } from '../../../kit/console/page.ts';
import { facts, figures } from '../../../kit/console/table.ts';
import { count, shareText } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { challenge } from '../capabilities/challenge.ts';
import { stats } from '../capabilities/stats.ts';
import { verify } from '../capabilities/verify.ts';

const action = 'console';
const labels = {
  ok: 'Solved',
  expired: 'Expired',
  invalid: 'Invalid',
  replayed: 'Replayed',
  action_mismatch: 'Misused',
};
const outcomes = Object.entries(labels) as [keyof typeof labels, string][];

const attempt: Act = actOf<(typeof verify)['output']>({
  capability: verify,
  input: (form) => ({ payload: textOf(form, 'payload'), action }),
  done: 'Verified.',
  answerView: (data, visit) => ({ title: 'Captcha', content: verdictView(visit, data) }),
});
const page: ConsolePage = {
  name: 'captcha',
  path: '/captcha',
  needs: stats,
  show,
  acts: { try: attempt },
  nav: { label: 'Captcha', key: 'C', group: 'reach' },
};
export const captchaConsole: ModuleConsole = { pages: [page] };

async function show(visit: Visit): Promise<View> {
  const widget = `<altcha-widget challenge="${visit.baseUrl}/v1/captcha/altcha?key=PUBLIC_KEY&action=signup"></altcha-widget>`;
  const content = html`<h1>Captcha</h1>
<p class="quiet">A form costs its sender about a second of processor time. This makes abuse in bulk expensive; it does not tell people from programs.</p>
${panel(visit, 'Last 30 days', await visit.call(stats), ({ items }) => totals(items))}
<h2>Protect a form</h2>
<p>In the form of the page, with <a href="${visit.path('/keys')}">a key</a> of the scope <code>captcha.challenge</code> and no other, and the widget (<code>npm install altcha</code>):</p>
${copiedBlock(html`<pre class="text" tabindex="0" aria-label="In the page">${widget}</pre>`, 'the code')}
<p>On your server, with what the form brought in its field <code>altcha</code>:</p>
${codeBlock('server', visit.samples([[verify, { payload: 'ALTCHA', action: 'signup' }]]))}
${visit.may(challenge) && visit.may(verify) ? await trial(visit) : ''}`;
  return { title: 'Captcha', content, hasChallenge: true };
}

function totals(days: readonly ItemOf<typeof stats>[]): Html {
  const sums = outcomes.map(([reason, label]) => ({ label, sum: days.reduce((total, day) => total + day[reason], 0) }));
  const all = sums.reduce((total, { sum }) => total + sum, 0);
  const shares = sums.map(({ label, sum }) => [label, count(sum), shareText(sum, all)] as const);
  return figures([['Verifications', count(all)], ...shares]);
}

async function trial(visit: Visit): Promise<Html> {
  const difficulty = visit.query.get('difficulty');
  if (difficulty === null) return html`<h2>Try it</h2><p><a href="?difficulty=normal">Make a challenge</a></p>`;
  const made = await visit.call(challenge, { difficulty, action });
  const payload = field(visit, 'try', { name: 'payload', label: 'Payload', rows: 4, isRequired: true });
  return panel(visit, 'Try it', made, (data) => {
    const solver = html`<div data-challenge="${JSON.stringify(data.challenge)}"><p role="status" data-progress>Your browser solves it when scripts run.</p>${payload}</div>`;
    return actForm(visit, 'try', html`${solver}<button class="main">Verify</button>`);
  });
}

function verdictView(
  visit: Visit,
  { reason, challenge_id: id, difficulty, took_ms: took }: DataOf<typeof verify>,
): Html {
  const solvedIn = took === null ? null : `${count(took)} ms`;
  const found = facts([
    ['Outcome', reason],
    ['Challenge', id],
    ['Difficulty', difficulty],
    ['Solved in', solvedIn],
  ]);
  return html`<h1>Captcha</h1><section class="panel" aria-label="The verification">${found}</section>
<p><a href="${visit.path('/captcha')}">Back to captcha</a></p>`;
}
