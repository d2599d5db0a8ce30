// First page of a webhook: outcome of its attempts over time, and its deliveries with every attempt, which can be sent again.

import { contentOrFailure, panel } from '../../../../kit/console/failure.ts';
import { actButton, textOf } from '../../../../kit/console/form.ts';
import { plot } from '../../../../kit/console/plot.ts';
import type { ResourcePage } from '../../../../kit/console/resource-pages.ts';
import { selectedIds } from '../../../../kit/console/select.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../../lib/time.ts';
import { eventsList } from '../../capabilities/events-list.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksRedeliver } from '../../capabilities/webhooks/redeliver.ts';
import { webhooksTest } from '../../capabilities/webhooks/test.ts';
import { webhooksUpdate } from '../../capabilities/webhooks/update.ts';
import { type Delivery, deliveries, REDELIVER, REDELIVER_SELECTED, statusTabs } from './deliveries.ts';
import type { Webhook } from './webhook.ts';

const ROWS = 20;
/** Deliveries whose attempts are drawn, and hours that are. */
const DRAWN = 100;
const HOURS = 7 * 24;
/** What is being delivered tells no tick. */
const AGAIN_SECONDS = 2;
/** An event is older than its delivery by at most so long, as a rule. */
const QUEUED_MS = 60_000;
const SECOND_MS = 1_000;
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
    [REDELIVER_SELECTED]: {
      capability: webhooksRedeliver,
      input: (form) => selectedIds(form).map((delivery_id) => ({ delivery_id })),
      done: 'Resending the selected events.',
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
  const payloads = await payloadsOf(visit, list.data?.items ?? []);
  const content = html`${contentOrFailure(visit, newest, ({ items }) => attempts(visit, items))}
${panel(visit, 'Deliveries', list, (page) => html`${statusTabs(visit, status)}${deliveries(visit, page, payloads)}`)}`;
  const isMoving = list.data?.items.some((each) => each.status === 'pending') === true;
  return { content, hasPlots: true, againSeconds: isMoving ? AGAIN_SECONDS : undefined };
}

/** What the deliveries sent, by the id of the event, as far as the list of events has it in the time that they are of. */
async function payloadsOf(visit: Visit, items: readonly Delivery[]): Promise<ReadonlyMap<string, unknown>> {
  const [newest, oldest] = [items[0], items.at(-1)];
  if (newest === undefined || oldest === undefined || !visit.may(eventsList)) return new Map();
  const from = iso(Date.parse(oldest.created_at) - QUEUED_MS);
  const to = iso(Date.parse(newest.created_at) + SECOND_MS);
  const { data } = await visit.call(eventsList, { from, to, limit: DRAWN });
  return new Map((data?.items ?? []).map((event) => [event.event_id, event] as const));
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
      { label: 'succeeded', values: succeeded, tone: 'good' },
      { label: 'failed', values: failed, tone: 'critical' },
    ],
    empty: 'No attempts in the last 7 days.',
  });
}
