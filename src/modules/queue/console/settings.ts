// Settings of a queue: as fields of the form of a new one, and on a page of their own.

import { checkbox, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act } from '../../../kit/console/page.ts';
import { queueField } from '../../../kit/console/pick.ts';
import { settingsPage } from '../../../kit/console/resource-pages.ts';
import { facts } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { update } from '../capabilities/update.ts';
import { queuePath, type Standing } from './queue.ts';

const numeric = html`inputmode="numeric"`;
const plain = html`spellcheck="false" autocapitalize="off" autocomplete="off"`;

export const settings = settingsPage<Standing>({
  isLive: true,
  capability: update,
  fields: updateFields,
  facts: queueFacts,
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
});

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

async function updateFields(visit: Visit, act: string, { queue }: Standing): Promise<Html> {
  const number = (name: string, label: string, value: number) =>
    field(visit, act, { name, label, value: String(value), attributes: numeric });
  const priority = checkbox(visit, act, {
    name: 'enable_priority',
    isChecked: queue.enable_priority,
    label: 'Deliver messages published from now on by priority',
  });
  return html`<div class="pair">${await deadLetterField(visit, act, queue.dlq_name ?? '')}
${retriesField(visit, act, String(queue.max_receive_count))}
${leaseField(visit, act, String(queue.visibility_timeout_default))}
${number('delivery_delay_seconds', 'Delay (s)', queue.delivery_delay_seconds)}
${number('message_retention_days', 'Retention (days)', queue.message_retention_days)}
${number('max_message_size_kb', 'Max message size (KiB)', queue.max_message_size_kb)}</div>
${queue.type === 'fifo' ? '' : html`<input type="hidden" name="has_priority" value="on">${priority}`}`;
}

/** For who may not change them. */
function queueFacts(visit: Visit, { queue }: Standing): Html {
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
