// Redrives of a queue: how far one is that runs, and what earlier ones moved.

import { actButton } from '../../../kit/console/form.ts';
import { badge, meter, table } from '../../../kit/console/table.ts';
import { count, durationText, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { dlqRedriveCancel } from '../capabilities/dlq/redrive-cancel.ts';
import type { dlqRedrives } from '../capabilities/dlq/redrives.ts';

export type Redrive = ItemOf<typeof dlqRedrives>;

const kinds = { running: 'warning', completed: 'good', cancelled: 'plain', failed: 'critical' } as const;

export function running(visit: Visit, redrives: readonly Redrive[]): Html {
  return html`${redrives.filter(({ state }) => state === 'running').map((redrive) => progress(visit, redrive))}`;
}

function progress(visit: Visit, { redrive_id: id, moved, requested, rate_per_second: rate }: Redrive): Html {
  const percent = requested === null || requested === 0 ? 0 : Math.min(100, (100 * moved) / requested);
  const left = requested === null || rate === null ? null : Math.max(0, requested - moved) / rate;
  const stop = visit.may(dlqRedriveCancel) ? actButton(visit, 'cancel', 'Stop', { redrive_id: id }) : '';
  return html`<section class="panel" id="${id}"><h2>Redrive in progress</h2>
<p>${count(moved)}${requested === null ? '' : ` of ${count(requested)}`} messages moved back${rate === null ? '' : `, ${count(rate)} a second`}${left === null ? '' : `, about ${durationText(left)} left`}.</p>
${meter(percent)}${stop}</section>`;
}

export function endedRedrives(visit: Visit, redrives: readonly Redrive[]): Html {
  const rows = redrives.filter(({ state }) => state !== 'running');
  if (rows.length === 0) return html``;
  return html`<section class="panel"><h2>Earlier redrives</h2>${table({
    caption: 'Earlier redrives, newest first',
    rows,
    empty: html``,
    columns: [
      { title: 'ID', cell: ({ redrive_id: id }) => html`<code id="${id}">${id}</code>` },
      { title: 'Status', cell: ({ state }) => badge(state, kinds[state]) },
      { title: 'Started', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Ended', cell: ({ finished_at }) => time(visit, finished_at) },
      { title: 'Moved', kind: 'number', cell: ({ moved }) => count(moved) },
      {
        title: 'Rate',
        kind: 'number',
        cell: ({ rate_per_second: rate }) => (rate === null ? 'no limit' : `${count(rate)}/s`),
      },
    ],
  })}</section>`;
}
