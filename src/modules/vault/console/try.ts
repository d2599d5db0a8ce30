// A call of a person through a connection: a GET of a path, and what came back. The answer is shown as text, whatever it holds.
import { copiedBlock } from '../../../kit/console/copied.ts';
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import type { Act } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { count, exactMoney, payload, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { call } from '../capabilities/call.ts';
import { statusBadge } from './calls.ts';
import { connectionPath } from './connection.ts';

export const TRY = 'try';
const TIMEOUT_MS = 30_000;
const HEADERS_SHOWN = 40;

type Answer = DataOf<typeof call>;

const wish = (form: URLSearchParams, { params }: Visit) => ({
  connection: params.connection,
  url: textOf(form, 'url'),
  timeout_ms: TIMEOUT_MS,
});

export const tryCall: Act<typeof call> = {
  capability: call,
  input: wish,
  done: 'Call made.',
  answerView(data, visit, form, envelope) {
    visit.tell(call, wish(form, visit));
    return { title: `Answer of ${visit.params.connection}`, content: answerShown(visit, data, form, envelope) };
  },
};

export function tryForm(visit: Visit, value = '/'): Html {
  const url = field(visit, TRY, {
    name: 'url',
    label: 'GET',
    value,
    isRequired: true,
    hint: `A path at its first host, or a whole URL. As a program would, for ${exactMoney(0.00002)}.`,
    attributes: html`spellcheck="false" autocapitalize="off" autocomplete="off"`,
  });
  return actForm(visit, TRY, html`${url}<button>Make the call</button>`);
}

interface Told {
  readonly metadata: { readonly warnings?: readonly string[] };
}

function answerShown(visit: Visit, data: Answer, sent: URLSearchParams, envelope: string): Html {
  const name = visit.params.connection ?? '';
  const { metadata } = JSON.parse(envelope) as Told;
  return html`<p><a href="${visit.path(connectionPath(name))}">${short(name, 64)}</a></p>
<h1>Answer of the target</h1>
${metadata.warnings?.map((warning) => html`<p class="notice">${warning}</p>`) ?? ''}
<section class="panel" aria-label="The answer">${facts([
    ['Call', html`GET <span class="breaking">${short(sent.get('url') ?? '', 300)}</span>`],
    ['Status', statusBadge(data.status)],
    ['Duration', `${count(data.latency_ms)} ms`],
    ['Length', sizeText(data.bytes)],
  ])}</section>
<h2>Body</h2>
${bodyShown(data)}
<details id="headers"><summary>Headers</summary>${headersShown(data)}</details>
<h2>Try another</h2>
${tryForm(visit, sent.get('url') ?? '/')}
<details id="call"><summary>The call</summary>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="The call">${visit.curl(call, wish(sent, visit))}</pre>`, 'the call')}</details>`;
}

function bodyShown({ body, body_base64: base64, bytes }: Answer): Html {
  if (bytes === 0) return html`<p class="quiet">Empty.</p>`;
  if (body !== null) return payload(body, 'Body', { call: call.id });
  const why = base64 === null ? 'It is longer than 1 MiB' : 'It is not text';
  return html`<p class="quiet">${why}: <code>${call.id}</code> has all of it.</p>`;
}

function headersShown({ headers }: Answer): Html {
  const shown = Object.entries(headers).slice(0, HEADERS_SHOWN);
  return facts(
    shown.map(([name, value]) => [name, html`<span class="breaking">${short([value].flat().join(', '), 500)}</span>`]),
  );
}
