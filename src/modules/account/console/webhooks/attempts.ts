// First page of a webhook: outcome of its attempts over time, and its deliveries with every attempt, which can be sent again.

import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import { actButton, textOf } from '../../../../kit/console/form.ts';
import { plot } from '../../../../kit/console/plot.ts';
import type { ResourcePage } from '../../../../kit/console/resource-pages.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../../lib/time.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksRedeliver } from '../../capabilities/webhooks/redeliver.ts';
import { webhooksTest } from '../../capabilities/webhooks/test.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { type Delivery, deliveries, REDELIVER, statusTabs } from './deliveries.ts';
import type { Webhook } from './webhook.ts';

const ROWS = 20;
/** Deliveries whose attempts are drawn, and hours that are. */
const DRAWN = 100;
const HOURS = 7 * 24;
/** What is being delivered tells no tick. */
const AGAIN_SECONDS = 2;
const idOf = ({ params: { id = '' } }: Visit) => id;

export const deliveriesPage: ResourcePage<Webhook> = {
  below: '',
  tab: 'Deliveries',
  isLive: true,
  actions,
  show,
  acts: {
    [REDELIVER]: {
      capability: webhooksRedeliver,
      input: (form) => ({ delivery_id: textOf(form, 'delivery_id') }),
      done: 'Resending the event.',
    },
    test: {
      capability: webhooksTest,
      input: (_, visit) => ({ webhook_id: idOf(visit) }),
      done: 'Test event sent. It is listed below.',
    },
    enable: {
      capability: webhooksUpdate,
      input: (_, visit) => ({ webhook_id: idOf(visit), status: 'enabled' }),
      done: 'Webhook enabled.',
    },
    disable: {
      capability: webhooksUpdate,
      input: (_, visit) => ({ webhook_id: idOf(visit), status: 'disabled' }),
      done: 'Webhook disabled.',
    },
  },
};

function actions(visit: Visit, { status }: Webhook): Html {
  const turn = status === 'enabled' ? actButton(visit, 'disable', 'Disable') : actButton(visit, 'enable', 'Enable');
  return html`${visit.may(webhooksUpdate) ? turn : ''}${visit.may(webhooksTest) ? actButton(visit, 'test', 'Send test event') : ''}`;
}

async function show(visit: Visit, { webhook_id: id }: Webhook) {
  const status = visit.query.get('status') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const [newest, list] = await Promise.all([
    visit.call(webhooksDeliveries, { webhook_id: id, limit: DRAWN }),
    visit.call(webhooksDeliveries, { webhook_id: id, status, cursor, limit: ROWS }),
  ]);
  const content = html`${contentOrFailure(visit, newest, ({ items }) => attempts(visit, items))}
${panel(visit, 'Deliveries', list, (page) => html`${statusTabs(visit, status)}${deliveries(visit, page)}`)}`;
  const isMoving = list.data?.items.some((each) => each.status === 'pending') === true;
  return { content, hasPlots: true, againSeconds: isMoving ? AGAIN_SECONDS : undefined };
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
