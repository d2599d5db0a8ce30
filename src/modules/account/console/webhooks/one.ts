// One webhook: its standing, how its attempts went over time, and its deliveries with every attempt, which can be made again.

import { copiedId } from '../../../../kit/console/copied.ts';
import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import { actButton, textOf } from '../../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { plot } from '../../../../kit/console/plot.ts';
import { pageTabs } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../../lib/time.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksGet } from '../../capabilities/webhooks/get.ts';
import { webhooksRedeliver } from '../../capabilities/webhooks/redeliver.ts';
import { webhooksTest } from '../../capabilities/webhooks/test.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { type Delivery, deliveries, REDELIVER, statusTabs } from './deliveries.ts';
import { standing, type Webhook, webhookPath } from './webhook.ts';

const ROWS = 20;
/** Deliveries whose attempts are drawn, and hours that are. */
const DRAWN = 100;
const HOURS = 7 * 24;
/** What is being delivered tells no tick. */
const AGAIN_SECONDS = 2;
const idOf = ({ params: { id = '' } }: Visit) => id;
const byId = (_: unknown, visit: Visit) => ({ id: idOf(visit) });

export const webhookPage: ConsolePage = {
  name: 'webhook',
  path: '/webhooks/{id}',
  needs: webhooksGet,
  isLive: true,
  show,
  acts: {
    [REDELIVER]: {
      capability: webhooksRedeliver,
      input: (form) => ({ delivery_id: textOf(form, 'delivery_id') }),
      done: 'Resending the event.',
    },
    test: { capability: webhooksTest, input: byId, done: 'Test event sent. It is listed below.' },
    enable: {
      capability: webhooksUpdate,
      input: (_, visit) => ({ id: idOf(visit), status: 'enabled' }),
      done: 'Webhook enabled.',
    },
    disable: {
      capability: webhooksUpdate,
      input: (_, visit) => ({ id: idOf(visit), status: 'disabled' }),
      done: 'Webhook disabled.',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const status = visit.query.get('status') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const [webhook, newest, list] = await Promise.all([
    visit.need(webhooksGet, { id }),
    visit.call(webhooksDeliveries, { id, limit: DRAWN }),
    visit.call(webhooksDeliveries, { id, status, cursor, limit: ROWS }),
  ]);
  const content = html`${head(visit, webhook, '')}
${contentOrFailure(visit, newest, ({ items }) => attempts(visit, items))}
${panel(visit, 'Deliveries', list, (page) => html`${statusTabs(visit, status)}${deliveries(visit, page)}`)}`;
  const isMoving = list.data?.items.some((each) => each.status === 'pending') === true;
  return { title: webhook.url, content, hasPlots: true, ...(isMoving ? { againSeconds: AGAIN_SECONDS } : {}) };
}

/** What the pages of a webhook show above all else. */
export function head(visit: Visit, webhook: Webhook, here: '' | '/settings'): Html {
  const { id, url, status, events, created_at, disabled_at: disabledAt } = webhook;
  const at = visit.path(webhookPath(id));
  const tab = (text: string, below: string) => ({ text, href: `${at}${below}`, isHere: below === here });
  const turn = status === 'enabled' ? actButton(visit, 'disable', 'Disable') : actButton(visit, 'enable', 'Enable');
  const actions = html`<div class="actions">${visit.may(webhooksUpdate) ? turn : ''}${visit.may(webhooksTest) ? actButton(visit, 'test', 'Send test event') : ''}</div>`;
  return html`<p><a href="${visit.path('/webhooks')}">Webhooks</a></p>
<div class="head"><div class="head named"><h1>${short(url, 120)}</h1><p>${standing(webhook)}${disabledAt === null ? '' : html` ${ago(visit, disabledAt)}`}</p></div>${here === '' ? actions : ''}</div>
<p class="quiet">${events.join(', ')} · registered ${ago(visit, created_at)} · ${copiedId(id)}</p>
${pageTabs('Pages of the webhook', [tab('Deliveries', ''), tab('Settings', '/settings')])}`;
}

/** Attempts of the newest deliveries, hour by hour. */
function attempts({ nowMs }: Visit, items: readonly Delivery[]): Html {
  const startMs = (Math.floor(nowMs / HOUR_MS) - HOURS + 1) * HOUR_MS;
  const [succeeded, failed] = [new Array<number>(HOURS).fill(0), new Array<number>(HOURS).fill(0)];
  for (const { at, error_code: code, http_status: status } of items.flatMap((each) => each.attempts)) {
    const hour = Math.floor((Date.parse(at) - startMs) / HOUR_MS);
    const isSuccess = code === null && status !== null && status >= 200 && status < 300;
    const counted = isSuccess ? succeeded : failed;
    if (hour in counted) counted[hour] = (counted[hour] as number) + 1;
  }
  return plot({
    caption: `Attempts per hour, newest ${DRAWN} deliveries`,
    unit: 'attempts',
    isRunning: true,
    instants: succeeded.map((_, hour) => iso(startMs + hour * HOUR_MS)),
    series: [
      { label: 'succeeded', values: succeeded },
      { label: 'failed', values: failed },
    ],
    empty: 'No attempts in the last 7 days.',
  });
}
