// Captcha: what verifications found, how a form gets one, and a challenge that this tab solves.
import { copiedBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, choice, field, textOf } from '../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { badge, facts, figures, table } from '../../../kit/console/table.ts';
import { count, money, shareText } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { challenge } from '../capabilities/challenge.ts';
import { stats } from '../capabilities/stats.ts';
import { verify } from '../capabilities/verify.ts';

type Day = ItemOf<typeof stats>;

const TRY = 'try';
const ACTION = 'console';
const labels = {
  ok: 'Solved',
  expired: 'Expired',
  invalid: 'Invalid',
  replayed: 'Replayed',
  action_mismatch: 'Other action',
};
const reasons = Object.keys(labels) as (keyof typeof labels)[];
const difficulties = ['easy', 'normal', 'hard'];

const attempt: Act = actOf<(typeof verify)['output']>({
  capability: verify,
  input: (form) => ({ payload: textOf(form, 'payload'), action: ACTION }),
  done: 'Verified.',
  shown: (data, visit) => ({ title: 'Captcha', content: verified(visit, data) }),
});

export const captchaPage: ConsolePage = {
  name: 'captcha',
  path: '/captcha',
  needs: stats,
  nav: { label: 'Captcha', key: 'C', group: 'reach', holds: null },
  show,
  acts: { [TRY]: attempt },
};

async function show(visit: Visit): Promise<View> {
  const counted = await visit.call(stats);
  const isTried = visit.may(challenge) && visit.may(verify);
  const content = html`<h1>Captcha</h1>
<p class="quiet">A form costs its sender about a second of processor time. This makes abuse in bulk expensive; it does not tell people from programs.</p>
${panel(visit, 'Last 30 days', counted, ({ items }) => days(items))}
<h2>Protect a form</h2>
${snippets(visit)}
${isTried ? html`<h2>Try it</h2>${await trial(visit)}` : ''}`;
  return { title: 'Captcha', content, hasChallenge: true };
}

function days(items: readonly Day[]): Html {
  const sum = (reason: keyof typeof labels) => items.reduce((all, day) => all + day[reason], 0);
  const all = reasons.reduce((total, reason) => total + sum(reason), 0);
  return html`${figures([
    ['Verifications', count(all)],
    ...reasons.map((reason) => [labels[reason], count(sum(reason)), shareText(sum(reason), all)] as const),
  ])}
${table<Day>({
  caption: 'Days',
  rows: items.toReversed(),
  empty: html`<p>No verifications yet.</p>`,
  columns: [
    { title: 'Day, UTC', cell: ({ date }) => date },
    ...reasons.map((reason) => ({
      ...{ title: labels[reason], kind: 'number' as const, cell: (day: Day) => count(day[reason]) },
    })),
  ],
})}`;
}

function snippets(visit: Visit): Html {
  const { baseUrl } = visit;
  const page = `<script type="module" src="altcha.js"></script>
<form method="post" action="/signup">
  …
  <altcha-widget challenge="${baseUrl}/v1/captcha/altcha?key=PUBLIC_KEY&action=signup"></altcha-widget>
</form>`;
  const server = `curl -sS ${baseUrl}/v1/captcha/siteverify -d secret=$QM_KEY -d action=signup --data-urlencode "response=$ALTCHA"`;
  const block = (text: string, label: string) =>
    copiedBlock(html`<pre class="text" tabindex="0" aria-label="${label}">${text}</pre>`, 'the code');
  return html`<p>The page needs <a href="${visit.path('/keys')}">a key</a> with the scope <code>captcha.challenge</code> and no other, and the widget (<code>npm install altcha</code>).</p>
${block(page, 'In the page')}
<p>Your server sends the field <code>altcha</code> with a key that may call <code>captcha.verify</code>; ${money(0.00001)} each.</p>
${block(server, 'On the server')}`;
}

async function trial(visit: Visit): Promise<Html> {
  const difficulty = visit.query.get('difficulty');
  const options = difficulties.map((name) => [name, name] as const);
  const again = html`<form method="get" class="row">${choice(visit, 'ask', { name: 'difficulty', label: 'Difficulty', options, value: difficulty ?? 'normal' })}<button>Make a challenge</button></form>`;
  if (difficulty === null) return again;
  const made = await visit.call(challenge, { difficulty, action: ACTION });
  return html`${again}${panel(visit, 'The challenge', made, (data) =>
    actForm(
      visit,
      TRY,
      html`<div data-challenge="${JSON.stringify(data.challenge)}"><p role="status" data-progress>Your browser solves it when scripts run.</p>
${field(visit, TRY, { name: 'payload', label: 'Payload', rows: 4, isRequired: true, hint: 'What the widget puts into a form.' })}</div>
<button class="main">Verify</button>`,
    ),
  )}`;
}

function verified(
  visit: Visit,
  { success, reason, challenge_id: id, difficulty, took_ms: took }: DataOf<typeof verify>,
): Html {
  return html`<h1>Captcha</h1>
<section class="panel" aria-label="The verification">${facts([
    ['Outcome', badge(reason, success ? 'good' : 'critical')],
    ['Challenge', id],
    ['Difficulty', difficulty],
    ['Solved in', took === null ? null : `${count(took)} ms`],
  ])}</section>
<p><a href="${visit.path('/captcha')}">Back to captcha</a></p>`;
}
