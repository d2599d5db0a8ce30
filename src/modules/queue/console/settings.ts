// Settings of a queue: as fields of the form of a new one, and on a page of their own, above what cannot be undone.

import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { actForm, checkbox, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage } from '../../../kit/console/page.ts';
import { queueField } from '../../../kit/console/pick.ts';
import { facts } from '../../../kit/console/table.ts';
import { count, countOf, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { purge } from '../capabilities/purge.ts';
import { update as queueUpdate } from '../capabilities/update.ts';
import { queueView } from './one.ts';
import { messagesOf, type Queue, queuePath, type Stats } from './queue.ts';

const UPDATE = 'update';
const numeric = html`inputmode="numeric"`;
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

const update: Act = {
  capability: queueUpdate,
  input: (form, { params }) => ({
    queue: params.name,
    dead_letter_queue: textOf(form, 'dead_letter_queue') ?? null,
    max_retries: numberOf(form, 'max_retries'),
    visibility_timeout_default: numberOf(form, 'visibility_timeout_default'),
    message_retention_days: numberOf(form, 'message_retention_days'),
    max_message_size_kb: numberOf(form, 'max_message_size_kb'),
    delivery_delay_seconds: numberOf(form, 'delivery_delay_seconds'),
    // A FIFO queue has no such field.
    enable_priority: form.has('has_priority') ? form.has('enable_priority') : undefined,
  }),
  done: 'Settings saved.',
};

export const queueSettingsPage: ConsolePage = {
  name: 'queue_settings',
  path: '/queues/{name}/settings',
  needs: get,
  isLive: true,
  show: (visit) =>
    queueView(
      visit,
      '/settings',
      async (queue, stats) => html`${await settings(visit, queue)}${danger(visit, queue, stats)}`,
    ),
  acts: { [UPDATE]: update },
};

export const createInput: Act['input'] = (form) => ({
  name: textOf(form, 'name'),
  type: textOf(form, 'type'),
  dead_letter_queue: textOf(form, 'dead_letter_queue'),
  max_retries: numberOf(form, 'max_retries'),
  visibility_timeout_default: numberOf(form, 'visibility_timeout_default'),
});

export async function createFields(visit: Visit, act: string): Promise<Html> {
  return html`<div class="pair">${field(visit, act, { name: 'name', label: 'Name', isRequired: true, attributes: plain, hint: '3 to 80 of a-z, 0-9, dots, underscores and hyphens.' })}
${choice(visit, act, {
  name: 'type',
  label: 'Type',
  value: 'standard',
  options: [
    ['standard', 'Standard: highest rate'],
    ['fifo', 'FIFO: strict order within a group'],
  ],
})}
${await deadLetterField(visit, act, '')}
${retriesField(visit, act, '3')}
${leaseField(visit, act, '300')}</div>`;
}

function deadLetterField(visit: Visit, act: string, value: string): Promise<Html> {
  const hint = 'An existing queue of the same type. Empty: none.';
  return queueField(visit, act, {
    name: 'dead_letter_queue',
    label: 'Dead-letter queue',
    value,
    attributes: plain,
    hint,
  });
}

function retriesField(visit: Visit, act: string, value: string): Html {
  const hint = 'After these the message moves to the dead-letter queue.';
  return field(visit, act, { name: 'max_retries', label: 'Max deliveries', value, attributes: numeric, hint });
}

function leaseField(visit: Visit, act: string, value: string): Html {
  const hint = 'How long a consumer has to acknowledge a message.';
  return field(visit, act, {
    name: 'visibility_timeout_default',
    label: 'Visibility timeout (s)',
    value,
    attributes: numeric,
    hint,
  });
}

/** To be changed, or, for who may not, to be read. */
async function settings(visit: Visit, queue: Queue): Promise<Html> {
  return visit.may(update.capability) ? updateForm(visit, queue) : queueFacts(visit, queue);
}

async function updateForm(visit: Visit, queue: Queue): Promise<Html> {
  const number = (name: string, label: string, value: number) =>
    field(visit, UPDATE, { name, label, value: String(value), attributes: numeric });
  const priority = checkbox(visit, UPDATE, {
    name: 'enable_priority',
    isChecked: queue.enable_priority,
    label: 'Deliver messages published from now on by priority',
  });
  return actForm(
    visit,
    UPDATE,
    html`<div class="pair">${await deadLetterField(visit, UPDATE, queue.dlq_name ?? '')}
${retriesField(visit, UPDATE, String(queue.max_receive_count))}
${leaseField(visit, UPDATE, String(queue.visibility_timeout_default))}
${number('delivery_delay_seconds', 'Delay (s)', queue.delivery_delay_seconds)}
${number('message_retention_days', 'Retention (days)', queue.message_retention_days)}
${number('max_message_size_kb', 'Max message size (KiB)', queue.max_message_size_kb)}</div>
${queue.type === 'fifo' ? '' : priority}<button class="main">Save</button>`,
    queue.type === 'fifo' ? {} : { has_priority: 'on' },
  );
}

function queueFacts(visit: Visit, queue: Queue): Html {
  const { dlq_name: dlq } = queue;
  return facts([
    ['Dead-letter queue', dlq === null ? 'none' : html`<a href="${visit.path(queuePath(dlq))}">${short(dlq, 80)}</a>`],
    ['Max deliveries', String(queue.max_receive_count)],
    ['Visibility timeout', `${count(queue.visibility_timeout_default)} s`],
    ['Delay', `${count(queue.delivery_delay_seconds)} s`],
    ['Retention', `${queue.message_retention_days} days`],
    ['Max message size', `${queue.max_message_size_kb} KiB`],
    ['Priority', queue.enable_priority ? 'on' : 'off'],
  ]);
}

function danger(visit: Visit, { name }: Queue, stats: Stats | null): Html {
  const link = (below: string, label: string) => dangerLink(visit.path(`${queuePath(name)}/${below}`), label);
  const messages = stats === null ? 'All messages' : `All ${countOf(messagesOf(stats), 'message')}`;
  return dangerZone([
    visit.may(purge)
      ? { title: 'Purge this queue', text: `${messages} are deleted. The queue stays.`, act: link('purge', 'Purge…') }
      : null,
    visit.may(remove)
      ? { title: 'Delete this queue', text: 'The queue and its messages are deleted.', act: link('delete', 'Delete…') }
      : null,
  ]);
}
