// Shared parts of the receivers' pages: tabs, state, form fields, and what is shown once it is made.
import { copiedBlock, copiedSecret } from '../../../../kit/console/copied.ts';
import { choice, field, sentOf, textOf } from '../../../../kit/console/form.ts';
import { queueField } from '../../../../kit/console/pick.ts';
import { badge, pageTabs } from '../../../../kit/console/table.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { webhooksList } from '../../capabilities/webhooks/list.ts';
import type { receiveCreate } from '../../capabilities/webhooks/receive/create.ts';
import type { receiveGet } from '../../capabilities/webhooks/receive/get.ts';
import { receiveList } from '../../capabilities/webhooks/receive/list.ts';
import { type Sender, senderLike, senderOf } from './senders.ts';

export type Receiver = DataOf<typeof receiveGet>;

export const RECEIVERS = '/webhooks/receivers';

export function receiverPath(id: string): string {
  return `${RECEIVERS}/${encodeURIComponent(id)}`;
}

const tabs = [
  ['Sent', '/webhooks', webhooksList],
  ['Received', RECEIVERS, receiveList],
] as const;

/** Those that the visitor may see. */
export function webhookTabs(visit: Visit, here: string): Html {
  const shown = tabs.filter(([, , needs]) => visit.may(needs));
  return pageTabs(
    'Pages of webhooks',
    shown.map(([text, path]) => ({ text, href: visit.path(path), isHere: path === here })),
  );
}

export function stateOf({ state, last_error: error }: Receiver): Html {
  if (state === 'failing') return badge(`failing: ${error?.code ?? ''}`, 'critical');
  return badge(state, state === 'active' ? 'good' : 'plain');
}

export function targetOf({ to: { queue, channel } }: Receiver): Html {
  return queue === null ? html`channel <code>${channel ?? ''}</code>` : html`queue <code>${queue}</code>`;
}

/** `sender`: chosen by the address of the form. */
export async function newFields(visit: Visit, act: string): Promise<Html> {
  const sender = senderOf(sentOf(visit, act, 'sender') ?? visit.query.get('sender'));
  return html`<input type="hidden" name="sender" value="${sender.name}">
${field(visit, act, { name: 'name', label: 'Name', value: sender.label, isRequired: true })}
${verifyFields(visit, act, sender)}
${await targetFields(visit, act)}`;
}

function verifyFields(visit: Visit, act: string, { scheme, secret, header }: Sender): Html {
  const isOther = header === undefined && (scheme === 'hmac' || scheme === 'token');
  const optional =
    scheme === 'none' ? html`` : secretField(visit, act, 'Secret', 'Empty: one is made, and shown once.');
  const secretInput = secret === undefined ? optional : secretField(visit, act, secret);
  if (!isOther) return secretInput;
  const usual = scheme === 'hmac' ? 'X-Signature' : 'Authorization';
  return html`${secretInput}
${field(visit, act, { name: 'header', label: 'Header', hint: `Empty: ${usual}.`, attributes: html`spellcheck="false"` })}
${scheme === 'hmac' ? choice(visit, act, { name: 'encoding', label: 'Signature is written as', value: 'hex', options: ['hex', 'base64', 'base64url'].map((one) => [one, one] as const) }) : ''}`;
}

function secretField(visit: Visit, act: string, label: string, hint?: string): Html {
  const attributes = html`spellcheck="false" autocomplete="off"`;
  const of = { name: 'secret', label, isRequired: hint === undefined, attributes };
  return field(visit, act, hint === undefined ? of : { ...of, hint });
}

/** Queue or channel, filter and note, as create and update take them. */
export async function targetFields(visit: Visit, act: string, receiver?: Receiver): Promise<Html> {
  const filter = receiver?.filter as { events?: string[] | null; json?: unknown } | null | undefined;
  const json = filter?.json == null ? '' : JSON.stringify(filter.json, null, 2);
  return html`${await queueField(visit, act, { name: 'queue', label: 'Queue', value: receiver?.to.queue ?? '', hint: 'Each request becomes a message there, paid as queue.publish.' })}
${field(visit, act, { name: 'channel', label: 'Or a channel', value: receiver?.to.channel ?? '', hint: 'Each request is published there, paid as realtime.publish.' })}
${field(visit, act, { name: 'events', label: 'Events', value: (filter?.events ?? []).join(', '), hint: 'Only these, separated by commas; * at the end stands for any rest. Empty: all.' })}
${field(visit, act, { name: 'json', label: 'Condition', value: json, rows: 3, hint: 'JsonLogic over event, headers and body: {"==": [{"var": "body.action"}, "opened"]}. Empty: none.' })}
${field(visit, act, { name: 'description', label: 'Description', value: receiver?.description ?? '' })}`;
}

export function verifyOf(form: URLSearchParams) {
  const { scheme, header, encoding } = senderOf(form.get('sender'));
  return {
    scheme,
    secret: textOf(form, 'secret'),
    header: header ?? textOf(form, 'header'),
    encoding: encoding ?? textOf(form, 'encoding'),
  };
}

export function settingsOf(form: URLSearchParams) {
  const events = (form.get('events') ?? '').split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  const text = textOf(form, 'json');
  const hasFilter = events.length > 0 || text !== undefined;
  return {
    to: { queue: textOf(form, 'queue'), channel: textOf(form, 'channel') },
    filter: hasFilter ? { events: events.length === 0 ? null : events, json: jsonOrText(text) } : null,
    description: textOf(form, 'description') ?? null,
  };
}

/** What is no JSON goes as the text that it is: the call says what is wrong with it. */
function jsonOrText(text: string | undefined): unknown {
  try {
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

/** The last step of the wizard: the address, the secret if one was made, and what to do at the sender. */
export function madeShown(visit: Visit, made: DataOf<typeof receiveCreate>): Html {
  const { receiver_id: id, name, secret } = made;
  const shown =
    secret === null ? '' : html`<h2>Secret</h2><p>Copy it now: it is shown only once.</p>${copiedSecret(secret)}`;
  return html`<h1>${name}</h1>
${addressShown(made)}
${shown}
${stepsShown(made)}
<p><a href="${visit.path(receiverPath(id))}">Open the receiver</a> to see its requests.</p>`;
}

export function addressShown({ url }: Pick<Receiver, 'url'>): Html {
  if (url === null) return html`<h2>URL</h2><p class="quiet">Shown to whoever may publish to its target.</p>`;
  return html`<h2>URL</h2>${copiedBlock(html`<pre class="secret" tabindex="0" aria-label="URL">${url}</pre>`, 'the URL')}`;
}

export function stepsShown({ verify: { scheme, header } }: Pick<Receiver, 'verify'>): Html {
  const { label, steps } = senderLike(scheme, header);
  return html`<h2>At the sender: ${label}</h2><ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>`;
}
