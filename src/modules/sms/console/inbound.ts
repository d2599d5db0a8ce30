// A message of a person in the sandbox, as a form.
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { sandboxInbound } from '../capabilities/sandbox-inbound.ts';

export const inboundPage: ConsolePage = {
  name: 'sms_inbound',
  path: '/sms/inbound',
  needs: sandboxInbound,
  show,
  actions: [{ label: 'Receive an SMS in the sandbox', path: '/sms/inbound', needs: sandboxInbound }],
  acts: {
    receive: actOf({
      capability: sandboxInbound,
      input: (form) => ({ from: textOf(form, 'from'), to: textOf(form, 'to'), text: textOf(form, 'text') }),
      done: 'Message received.',
      next: ({ sms_id: id }) => `/sms/${id}`,
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  const act = 'receive';
  const content = html`<p><a href="${visit.path('/sms')}">SMS</a></p>
<h1>Receive a message</h1>
<p>It arrives as if a carrier had brought it, and is told as <code>sms.inbound</code>. STOP ends messages from that sender, START allows them again.</p>
${actForm(
  visit,
  act,
  html`<div class="pair">${field(visit, act, { name: 'from', label: 'Number of the person', isRequired: true, hint: 'E.164, such as +12025550123.', attributes: html`inputmode="tel" autocomplete="off" spellcheck="false"` })}
${field(visit, act, { name: 'to', label: 'Your sender', hint: 'Empty: the number that the sandbox sends from.', attributes: html`spellcheck="false"` })}</div>
${field(visit, act, { name: 'text', label: 'Text', rows: 3, isRequired: true })}
<button class="main">Receive message</button>`,
)}`;
  return { title: 'Receive a message', content };
}
