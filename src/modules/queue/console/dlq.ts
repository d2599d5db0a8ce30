// The dead letters of one queue: what each holds, why it was given up, and the way back: one, those chosen, or all, at a rate. A redrive
// under way shows how far it is.

import { contentOrFailure, panel } from '../../../kit/console/failure.ts';
import { actForm, field, numberOf } from '../../../kit/console/form.ts';
import type { Act } from '../../../kit/console/page.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { more, table, teach } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { create } from '../capabilities/create.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { dlqRedrive } from '../capabilities/dlq/redrive.ts';
import { dlqRedriveCancel } from '../capabilities/dlq/redrive-cancel.ts';
import { dlqRedrives } from '../capabilities/dlq/redrives.ts';
import { update } from '../capabilities/update.ts';
import {
  deliveriesColumn,
  groupColumn,
  type Message,
  messagesWithSource,
  payloadColumn,
  publishedColumn,
  records,
  type Sourced,
} from './messages.ts';
import { type Queue, queuePath, type Standing } from './queue.ts';
import { endedRedrives, running } from './redrives.ts';

type DeadMessage = ItemOf<typeof dlqList>;

const ROWS = 20;
const REDRIVES = 5;
/** A redrive moves messages in the background, which no tick tells. */
const REDRIVE_SECONDS = 2;
const CHOSEN = 'redrive';
const ALL = 'redrive_all';
const DONE = 'Redrive started. Below is how many messages it moved.';

const chosen: Act = {
  capability: dlqRedrive,
  input(form, { params }) {
    const one = form.get('one');
    const ids = one === null ? form.getAll('id') : [one];
    if (ids.length === 0) throw invalidField('id', 'required', 'Select the messages to redrive.');
    return { queue: params.name, message_ids: ids };
  },
  done: DONE,
};

const all: Act = {
  capability: dlqRedrive,
  input: (form, { params }) => ({
    queue: params.name,
    rate_per_second: numberOf(form, 'rate_per_second'),
    max_messages: numberOf(form, 'max_messages'),
  }),
  done: DONE,
};

export const dlqPage: ResourcePage<Standing> = {
  below: '/dlq',
  tab: 'Dead letters',
  title: (name) => `Dead letters of ${name}`,
  needs: dlqList,
  isLive: true,
  show,
  async jsonl(visit) {
    return records(visit, messagesWithSource(await visit.call(dlqList, listInput(visit))));
  },
  acts: {
    [CHOSEN]: chosen,
    [ALL]: all,
    cancel: {
      capability: dlqRedriveCancel,
      input: (form) => ({ redrive_id: form.get('redrive_id') ?? '' }),
      done: 'Redrive stopped. The messages it moved stay moved.',
    },
  },
};

function listInput({ params, query }: Visit) {
  return { queue: params.name, cursor: query.get('cursor') ?? undefined, limit: ROWS };
}

async function show(visit: Visit, { queue, stats }: Standing) {
  const [dead, redrives] = await Promise.all([
    visit.call(dlqList, listInput(visit)),
    visit.may(dlqRedrives) ? visit.call(dlqRedrives, { queue: queue.name, limit: REDRIVES }) : null,
  ]);
  const items = redrives?.data?.items ?? [];
  // One at a time a queue.
  const isMoving = items.some(({ state }) => state === 'running');
  const found = stats?.data?.dlq_count ?? null;
  const content = html`${found === null ? '' : deadLetterText(visit, queue, found)}
${redrives === null ? '' : contentOrFailure(visit, redrives, () => running(visit, items))}
${panel(visit, 'Messages', dead, (page) => html`${letters(visit, queue, messagesWithSource(dead))}${more(visit, page)}`)}
${visit.may(dlqRedrive) && found !== 0 && !isMoving ? html`<section class="panel"><h2>Redrive all</h2>${allForm(visit, found)}</section>` : ''}
${endedRedrives(visit, items)}`;
  return { content, againSeconds: isMoving ? REDRIVE_SECONDS : undefined };
}

function deadLetterText(visit: Visit, { dlq_name: dlq, max_receive_count: most }: Queue, dead: number): Html {
  const where = dlq === null ? html`` : html` in <a href="${visit.path(queuePath(dlq))}">${short(dlq, 80)}</a>`;
  const deliveries = countOf(most, 'delivery', 'deliveries');
  const why =
    dlq === null
      ? ''
      : ` A message moves there after ${deliveries} without an ack, or when it is nacked without requeue.`;
  return html`<p><strong id="dead" aria-live="polite">${countOf(dead, 'dead letter')}</strong>${where}.${why}</p>`;
}

function letters(visit: Visit, queue: Queue, messages: readonly Sourced<DeadMessage>[]): Html {
  const may = visit.may(dlqRedrive);
  const rows = table<Sourced<DeadMessage>>({
    caption: 'Dead letters, oldest first',
    rows: messages,
    empty: visit.query.has('cursor') ? html`<p>No more dead letters.</p>` : nothing(visit, queue),
    columns: [
      { title: 'Message', cell: ({ message_id: id }) => (may ? chosenBox(visit, id) : html`<code>${id}</code>`) },
      payloadColumn(visit),
      ...(queue.type === 'fifo' ? [groupColumn] : []),
      {
        title: 'Reason',
        cell: ({ reason }) => (reason === null ? html`<span class="quiet">none given</span>` : short(reason, 500)),
      },
      publishedColumn(visit),
      { title: 'Dead-lettered', cell: ({ dead_lettered_at: since }) => ago(visit, since) },
      deliveriesColumn,
      ...(may ? [{ title: 'Actions', cell: ({ message_id: id }: Message) => oneButton(id) }] : []),
    ],
  });
  if (messages.length === 0 || !may) return rows;
  // The first button is what Enter in a box does.
  return actForm(
    visit,
    CHOSEN,
    html`<div class="actions"><button>Redrive selected</button><button type="button" data-select-all>Select all</button></div>${rows}`,
  );
}

/** With an id: when rows go and come, it stays with its message. */
function chosenBox({ refused }: Visit, id: string): Html {
  const isChosen = refused?.act === CHOSEN && refused.form.getAll('id').includes(id);
  return html`<label class="choice"><input type="checkbox" id="choose-${id}" name="id" value="${id}"${isChosen ? html` checked` : ''}> <code>${id}</code></label>`;
}

function oneButton(id: string): Html {
  return html`<button id="redrive-${id}" name="one" value="${id}">Redrive<span class="unseen"> ${id}</span></button>`;
}

function allForm(visit: Visit, found: number | null): Html {
  const numeric = html`inputmode="numeric"`;
  return actForm(
    visit,
    ALL,
    html`<div class="pair">${field(visit, ALL, { name: 'rate_per_second', label: 'Messages per second', attributes: numeric, hint: 'Empty: no limit.' })}
${field(visit, ALL, { name: 'max_messages', label: 'Max messages', attributes: numeric, hint: 'Oldest first. Empty: all.' })}</div>
<button class="main">Redrive all${found === null ? '' : ` ${count(found)}`}</button> <span class="quiet">Their deliveries are counted from zero again.</span>`,
  );
}

function nothing(visit: Visit, { name, dlq_name: dlq }: Queue): Html {
  if (dlq !== null) return html`<p>No dead letters.</p>`;
  const dead = `${name.slice(0, 75)}-dead`;
  return teach(
    'This queue has no dead-letter queue. To give it one:',
    visit.samples([
      [create, { name: dead }],
      [update, { queue: name, dead_letter_queue: dead, max_retries: 3 }],
    ]),
  );
}
