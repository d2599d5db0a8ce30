// The receivers of the account: where other services send. A new one is set up step by step for its sender.
import { textOf } from '../../../../kit/console/form.ts';
import { listPage } from '../../../../kit/console/list-page.ts';
import { tabs, teach, withQuery } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { receiveCreate } from '../../capabilities/webhooks/receive/create.ts';
import { receiveList } from '../../capabilities/webhooks/receive/list.ts';
import {
  madeShown,
  newFields,
  RECEIVERS,
  receiverPath,
  settingsOf,
  stateOf,
  targetOf,
  verifyOf,
  webhookTabs,
} from './receiver.ts';
import { senderOf, senders } from './senders.ts';

export const receiversPage = listPage({
  name: 'webhook_receivers',
  path: RECEIVERS,
  title: 'Received webhooks',
  caption: 'All receivers',
  list: receiveList,
  above: (visit) => webhookTabs(visit, RECEIVERS),
  intro:
    'A receiver is an address where another service sends. Each verified request becomes a message of a queue or channel.',
  empty: (visit) => teach('No receivers yet. To have GitHub’s webhooks in a queue:', firstCall(visit)),
  columns: (visit) => [
    {
      title: 'Name',
      cell: ({ receiver_id: id, name }) => html`<a href="${visit.path(receiverPath(id))}">${short(name, 80)}</a>`,
    },
    { title: 'State', cell: stateOf },
    { title: 'Verified by', cell: ({ verify }) => verify.scheme },
    { title: 'To', cell: targetOf },
    { title: 'Last request', cell: ({ last_received_at: at }) => (at === null ? 'none' : ago(visit, at)) },
  ],
  create: {
    capability: receiveCreate,
    heading: 'New receiver',
    intro: 'Choose who sends.',
    input: (form) => ({ name: textOf(form, 'name'), verify: verifyOf(form), ...settingsOf(form) }),
    done: 'Receiver created.',
    answerView: (made, visit) => ({ title: made.name, content: madeShown(visit, made) }),
    form: async (visit, act) =>
      html`${senderTabs(visit)}${await newFields(visit, act)}<button class="main">Create receiver</button>`,
  },
});

function senderTabs(visit: Visit): Html {
  const here = senderOf(visit.query.get('sender'));
  return tabs(
    'Sender',
    senders.map((sender) => ({
      text: sender.label,
      href: withQuery(visit, { sender: sender.name }),
      isHere: sender === here,
    })),
  );
}

function firstCall(visit: Visit) {
  return visit.samples([
    [receiveCreate, { name: 'our repository', verify: { scheme: 'github' }, to: { queue: 'github' } }],
  ]);
}
