// Charts of a queue: messages published and acknowledged, depth, and age of the oldest message.

import { contentOrFailure } from '../../../kit/console/failure.ts';
import { plots } from '../../../kit/console/plot.ts';
import { tabs, withQuery } from '../../../kit/console/table.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS, HOUR_MS, iso } from '../../../lib/time.ts';
import { samples as queueSamples } from '../capabilities/samples.ts';
import type { Queue } from './queue.ts';

type Samples = DataOf<typeof queueSamples>;

const periods = {
  '1h': { label: '1 hour', ms: HOUR_MS },
  '24h': { label: '24 hours', ms: DAY_MS },
  '7d': { label: '7 days', ms: 7 * DAY_MS },
} as const;
const USUAL = '24h';

export async function charts(visit: Visit, { name: queue }: Queue): Promise<Html> {
  if (!visit.may(queueSamples)) return html``;
  const asked = visit.query.get('period') ?? '';
  const here = Object.hasOwn(periods, asked) ? (asked as keyof typeof periods) : USUAL;
  const read = await visit.call(queueSamples, { queue, from: iso(visit.nowMs - periods[here].ms) });
  const choices = Object.entries(periods).map(([period, { label }]) => ({
    text: label,
    href: withQuery(visit, { period }),
    isHere: period === here,
  }));
  return html`<section class="panel"><div class="head"><h2>Activity</h2>${tabs('Period', choices)}</div>${contentOrFailure(visit, read, queuePlots)}</section>`;
}

function queuePlots({ step_seconds: step, items }: Samples): Html {
  const instants = items.map(({ at }) => at);
  const per = step === 60 ? 'minute' : `${step / 60} minutes`;
  const of = (name: 'published' | 'acknowledged' | 'depth') => items.map((item) => item[name]);
  const age = inUnit(items.map((item) => item.oldest_message_age_seconds));
  const common = { instants, isRunning: false, isLine: true };
  const made = plots([
    {
      caption: `Messages per ${per}`,
      unit: 'messages',
      ...common,
      series: [
        { label: 'published', values: of('published') },
        { label: 'acknowledged', values: of('acknowledged') },
      ],
    },
    {
      caption: 'Depth',
      unit: 'messages',
      ...common,
      series: [{ label: 'messages in the queue', values: of('depth') }],
    },
    {
      caption: `Age of the oldest message, ${age.unit}`,
      unit: age.unit,
      ...common,
      series: [{ label: 'oldest message', values: age.values }],
    },
  ]);
  return (
    made ?? html`<p class="quiet">Nothing happened in this period. A queue that is in use is sampled every minute.</p>`
  );
}

/** In the unit in which the longest one is read most easily. */
function inUnit(seconds: readonly (number | null)[]) {
  const most = Math.max(0, ...seconds.map((each) => each ?? 0));
  const [unit, length] = most < 600 ? ['seconds', 1] : most < 7_200 ? ['minutes', 60] : ['hours', 3_600];
  return {
    unit,
    values: seconds.map((each) => (each === null ? null : Math.round((each / (length as number)) * 10) / 10)),
  } as {
    readonly unit: string;
    readonly values: readonly (number | null)[];
  };
}
