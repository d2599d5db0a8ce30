// One call of the request log: what was sent, what came of it, and what else belongs to its trace.
import { copiedId } from '../../../../kit/console/copied.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { facts } from '../../../../kit/console/table.ts';
import { money, payload, short, sizeText, time } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { requestsGet } from '../../capabilities/requests/get.ts';
import { callerName, readCallers } from '../usage/caller.ts';
import { actText } from './act-words.ts';
import { type Logged, latencyText, namesOf, statusBadge } from './requests.ts';

export const requestPage: ConsolePage = {
  name: 'request',
  path: '/requests/{id}',
  needs: requestsGet,
  show,
};

async function show(visit: Visit): Promise<View> {
  const of = (await visit.need(requestsGet, { request_id: visit.params.id })) as Logged;
  const trace = visit.path(`/requests?outcome=all&trace_id=${encodeURIComponent(of.trace_id)}`);
  const { names } = await readCallers(visit);
  const acted = actText(of, await namesOf(visit, [of], names));
  const content = html`<p><a href="${visit.path('/requests')}">All requests</a></p>
<h1>${short(acted ?? of.capability, 160)}</h1>
<p>${statusBadge(of)} ${of.message === null ? '' : short(of.message, 500)}</p>
${of.code === null ? '' : html`<p><a href="${visit.elsewhere(`/docs/errors/${of.code}`)}">What ${of.code} means</a></p>`}
<section class="panel"><h2>Request</h2>${facts([
    ['Capability', of.capability],
    ['Request ID', copiedId(of.request_id)],
    ['Trace ID', html`<a href="${trace}"><code>${of.trace_id}</code></a>`],
    ['Ended', time(visit, of.at)],
    ['Duration', latencyText(of.latency_ms)],
    ['Request', html`<code>${of.method} ${short(of.path, 500)}</code>`],
    ['Wire', of.entry_form],
    ['Key', of.key_id === null ? null : keyLink(visit, of.key_id, callerName(visit, of.key_id, names))],
    [
      'Person',
      of.person_id === null
        ? null
        : html`${short(callerName(visit, of.person_id, names), 100)} ${copiedId(of.person_id)}`,
    ],
    ['Network', of.address],
    ['Field', of.param],
    ['Cost', money(of.cost_usd)],
    ['Received', of.bytes_in === null ? null : sizeText(of.bytes_in)],
    ['Sent', of.bytes_out === null ? null : sizeText(of.bytes_out)],
    ['Replayed', of.replay ? 'Yes: the answer of an earlier call with the same idempotency key' : null],
    ['Vendor', of.vendor],
  ])}</section>
${inputOf(of)}`;
  return { title: of.capability, content };
}

/** A key without a name is called by its ID, which stands there once. */
function keyLink(visit: Visit, id: string, name: string): Html {
  const link = html`<a href="${visit.path(`/keys/${id}`)}">${name === id ? 'Open the key' : short(name, 100)}</a>`;
  return html`${link} ${copiedId(id)}`;
}

function inputOf({ input, status }: Logged): Html {
  if (input === null)
    return status < 400 ? html`<p class="quiet">Inputs of successful calls are not kept.</p>` : html``;
  return html`<section class="panel"><h2>Input</h2>${payload(readable(input), 'Input of the call', { call: 'account.requests.get' })}</section>`;
}

/** JSON, over several lines; a text that was cut is none. */
function readable(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
