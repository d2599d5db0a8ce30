// Settings of a queue as fields of forms: of a new one, and of one that is there.

import { actForm, checkbox, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { update as queueUpdate } from '../capabilities/update.ts';
import { type Queue, queuePath } from './queue.ts';

const UPDATE = 'update';
const numeric = html`inputmode="numeric"`;
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

export const update: Act = {
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
  done: 'The settings were changed.',
};

export const createInput: Act['input'] = (form) => ({
  name: textOf(form, 'name'),
  type: textOf(form, 'type'),
  dead_letter_queue: textOf(form, 'dead_letter_queue'),
  max_retries: numberOf(form, 'max_retries'),
  visibility_timeout_default: numberOf(form, 'visibility_timeout_default'),
});

export function createFields(visit: Visit, act: string): Html {
  return html`<div class="pair">${field(visit, act, { name: 'name', label: 'Name', isRequired: true, attributes: plain, hint: '3 to 80 of a-z, 0-9, dot, underscore, hyphen.' })}
${choice(visit, act, {
  name: 'type',
  label: 'Type',
  value: 'standard',
  options: [
    ['standard', 'standard: high rate'],
    ['fifo', 'FIFO: strict order in a group'],
  ],
})}
${deadLetterField(visit, act, '')}
${retriesField(visit, act, '3')}
${leaseField(visit, act, '300')}</div>`;
}

function deadLetterField(visit: Visit, act: string, value: string): Html {
  const hint = 'A queue of the same type that is there. Empty: none.';
  return field(visit, act, {
    ...{ name: 'dead_letter_queue', label: 'Dead-letter queue', value },
    ...{ attributes: plain, hint },
  });
}

function retriesField(visit: Visit, act: string, value: string): Html {
  const hint = 'Then the message moves to the dead-letter queue.';
  return field(visit, act, { name: 'max_retries', label: 'Max deliveries', value, attributes: numeric, hint });
}

function leaseField(visit: Visit, act: string, value: string): Html {
  const hint = 'Time to acknowledge a message.';
  return field(visit, act, {
    ...{ name: 'visibility_timeout_default', label: 'Visibility timeout (s)', value },
    ...{ attributes: numeric, hint },
  });
}

/** The settings: to be changed, or, for who may not, to be read. */
export function settings(visit: Visit, queue: Queue): Html {
  return visit.may(update.capability) ? updateForm(visit, queue) : told(visit, queue);
}

function updateForm(visit: Visit, queue: Queue): Html {
  const number = (name: string, label: string, value: number) =>
    field(visit, UPDATE, { name, label, value: String(value), attributes: numeric });
  const priority = checkbox(visit, UPDATE, {
    ...{ name: 'enable_priority', isChecked: queue.enable_priority },
    label: 'Priority decides the order of messages published from now on',
  });
  return actForm(
    visit,
    UPDATE,
    html`<div class="pair">${deadLetterField(visit, UPDATE, queue.dlq_name ?? '')}
${retriesField(visit, UPDATE, String(queue.max_receive_count))}
${leaseField(visit, UPDATE, String(queue.visibility_timeout_default))}
${number('delivery_delay_seconds', 'Delay, seconds', queue.delivery_delay_seconds)}
${number('message_retention_days', 'Retention, days', queue.message_retention_days)}
${number('max_message_size_kb', 'Largest message, KiB', queue.max_message_size_kb)}</div>
${queue.type === 'fifo' ? '' : priority}<button class="main">Change the settings</button>`,
    queue.type === 'fifo' ? {} : { has_priority: 'on' },
  );
}

function told(visit: Visit, queue: Queue): Html {
  const { dlq_name: dlq } = queue;
  return facts([
    ['Dead-letter queue', dlq === null ? 'none' : html`<a href="${visit.path(queuePath(dlq))}">${short(dlq, 80)}</a>`],
    ['Max deliveries', String(queue.max_receive_count)],
    ['Lease', `${count(queue.visibility_timeout_default)} s`],
    ['Delay', `${count(queue.delivery_delay_seconds)} s`],
    ['Retention', `${queue.message_retention_days} days`],
    ['Largest message', `${queue.max_message_size_kb} KiB`],
    ['Priority', queue.enable_priority ? 'decides the order' : 'decides nothing'],
  ]);
}
