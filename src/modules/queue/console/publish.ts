// Publishes a message to a queue, as a program would.

import { actForm, field, jsonTextOf, numberOf, textOf } from '../../../kit/console/form.ts';
import { instantField, secondsUntil } from '../../../kit/console/instant-field.ts';
import type { Act } from '../../../kit/console/page.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { count } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { publish as queuePublish } from '../capabilities/publish.ts';
import type { Queue, Standing } from './queue.ts';

const PUBLISH = 'publish';

const publish: Act = {
  capability: queuePublish,
  input(form, visit) {
    const { name: queue } = visit.params;
    const fields = {
      queue,
      delay_seconds: secondsUntil(form, 'delay_seconds', visit),
      priority: numberOf(form, 'priority'),
      message_group_id: textOf(form, 'message_group_id'),
    };
    // As it was typed, digit by digit: it is never read and written again.
    return new JsonText(`${JSON.stringify(fields).slice(0, -1)},"payload":${jsonTextOf(form, 'payload')}}`);
  },
  done: 'Message published.',
};

export const publishPage: ResourcePage<Standing> = {
  below: '/publish',
  tab: 'Publish',
  needs: queuePublish,
  isLive: true,
  show: (visit, { queue }) => ({ content: publishForm(visit, queue) }),
  acts: { [PUBLISH]: publish },
};

function publishForm(visit: Visit, { type, enable_priority, delivery_delay_seconds: delay }: Queue): Html {
  const numeric = html`inputmode="numeric"`;
  const group = { name: 'message_group_id', label: 'Message group', hint: 'Empty: the default group.' };
  return actForm(
    visit,
    PUBLISH,
    html`${field(visit, PUBLISH, { name: 'payload', label: 'Payload (JSON object)', value: '{"hello": "world"}', rows: 6, isRequired: true })}
<div class="pair">${instantField(visit, PUBLISH, { name: 'delay_seconds', label: 'Deliver at', hint: delay === 0 ? 'Empty: at once.' : `Empty: after the delay of the queue, ${count(delay)} s.` })}
${enable_priority ? field(visit, PUBLISH, { name: 'priority', label: 'Priority', attributes: numeric, hint: '0 to 10. Higher goes first.' }) : ''}
${type === 'fifo' ? field(visit, PUBLISH, group) : ''}</div>
<button class="main">Publish</button> <span class="quiet">$0.00002 per message</span>`,
  );
}
