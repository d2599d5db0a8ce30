// What to do first, at the head of the overview: a call, a way to sign in by mail, and a key for a program. Each step shows as done by facts.
// All of it goes once all is done, or once something runs for good.
import { codeBlock } from '../../../../kit/console/copied.ts';
import { badge } from '../../../../kit/console/table.ts';
import { short } from '../../../../kit/console/text.ts';
import type { Callable, DataOf, Read, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../../lib/time.ts';
import { balance } from '../../capabilities/balance.ts';
import { emailBind } from '../../capabilities/email/bind.ts';
import { keysCreate } from '../../capabilities/keys/create.ts';
import { usage as accountUsage } from '../../capabilities/usage.ts';
import type { Callers } from '../usage/caller.ts';

type Usage = DataOf<typeof accountUsage>;

/** So many calls are no trial any more. */
const CALLS_FOR_GOOD = 100;

const queueCreate: Callable = { id: 'queue.create' };
const queuePublish: Callable = { id: 'queue.publish' };
const queueCalls = [
  [queueCreate, { name: 'jobs' }],
  [queuePublish, { queue: 'jobs', payload: { hello: 'world' } }],
] as const;
const balanceCall = [[balance, {}]] as const;

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly text: Html;
}

/** `week`: without free calls of the console. Nothing where it could not be read. */
export async function firstSteps(visit: Visit, week: Read<Usage>, { keys, account }: Callers): Promise<Html> {
  if (week.data === null || account === null || runsForGood(week.data)) return html``;
  // What is older than the week: of few accounts, and only while they begin.
  const all = await visit.call(accountUsage, {
    from: account.created_at,
    to: iso(visit.nowMs + HOUR_MS),
    console_calls: 'billed',
  });
  if (all.data === null || runsForGood(all.data)) return html``;
  const steps: readonly Step[] = [
    { title: 'Make a call', isDone: all.data.by_key.some(isOfKey), text: callText(visit) },
    { title: 'Sign in by mail', isDone: account.email_bound, text: mailText(visit, account.email) },
    { title: 'Create a key for your program', isDone: keys.length > 1, text: keyText(visit) },
  ];
  return steps.every(({ isDone }) => isDone) ? html`` : stepList(steps);
}

function runsForGood({ by_key: by }: Usage): boolean {
  const calls = by.filter(isOfKey).reduce((sum, { count }) => sum + count, 0);
  return calls >= CALLS_FOR_GOOD;
}

function isOfKey({ key_id: id }: { readonly key_id: string }): boolean {
  return id.startsWith('key_');
}

function stepList(steps: readonly Step[]): Html {
  const next = steps.findIndex(({ isDone }) => !isDone);
  const item = ({ title, isDone, text }: Step, i: number) =>
    html`<li${isDone ? html` class="done-step"` : ''}><details${i === next ? html` open` : ''}><summary>${title} ${isDone ? badge('done', 'good') : ''}</summary>${text}</details></li>`;
  return html`<section class="panel"><h2>Get started</h2><ol class="steps">${steps.map(item)}</ol></section>`;
}

function callText(visit: Visit): Html {
  const hasQueues = visit.may(queueCreate) && visit.may(queuePublish);
  const [sentence, calls] = hasQueues
    ? (['Create a queue and publish a message.', queueCalls] as const)
    : (['Ask for the balance.', balanceCall] as const);
  return html`<p>${sentence} Set <code>QM_KEY</code> to the secret of your key.</p>${codeBlock('first-call', visit.samples(calls))}`;
}

function mailText(visit: Visit, email: string | null): Html {
  if (email !== null) return html`<p>${short(email, 100)} signs in with a code by mail.</p>`;
  const link = visit.may(emailBind)
    ? html`<a href="${visit.path('/account')}">Add an email address</a>`
    : html`An owner adds one under Account.`;
  return html`<p>With an email address you sign in by a code instead of a key, invite people and pay. ${link}</p>`;
}

function keyText(visit: Visit): Html {
  const link = visit.may(keysCreate) ? html`<a href="${visit.path('/keys?new=1')}">Create a key</a>` : '';
  return html`<p>Give each program a key of its own. You can then limit or stop one without the others. ${link}</p>`;
}
