// One text message: as a phone shows it, its course, and what it cost.
import { copiedId } from '../../../kit/console/copied.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, money, short, time } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { get } from '../capabilities/get.ts';
import { otherOf, type Sms, smsState } from './messages.ts';

export const messagePage: ConsolePage = {
  name: 'sms_message',
  path: '/sms/{id}',
  needs: get,
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const { id = '' } = visit.params;
  const sms = await visit.need(get, { sms_id: id });
  const number = otherOf(sms);
  const isInbound = sms.direction === 'inbound';
  const content = html`<p><a href="${visit.path('/sms')}">SMS</a></p>
<div class="head"><div class="head named"><h1>${isInbound ? 'From' : 'To'} ${short(number)}</h1><p>${smsState(sms)}</p></div></div>
${sms.status === 'failed' ? html`<p class="failure">It was not delivered: <code>${short(sms.error_code ?? 'no reason given', 100)}</code></p>` : ''}
${sms.detail === 'outcome_unknown' ? html`<p class="note">The answer of the carrier was lost: the message may have been sent. It is not sent again.</p>` : ''}
<div class="panels">${phone(visit, sms)}<section class="panel"><h2>Course</h2>${course(visit, sms)}${smsFacts(visit, sms)}</section></div>`;
  return { title: `SMS ${isInbound ? 'from' : 'to'} ${number}`, content };
}

/** As the person's phone shows it. */
function phone(visit: Visit, sms: Sms): Html {
  const side = sms.direction === 'inbound' ? 'theirs' : 'ours';
  return html`<section class="panel"><h2>On the phone</h2><div class="phone"><p class="phone-name">${short(sms.direction === 'inbound' ? sms.to : sms.from)}</p>
<p class="bubble ${side}" dir="auto">${sms.text}</p><p class="quiet">${time(visit, sms.sent_at ?? sms.created_at)}</p></div></section>`;
}

function course(visit: Visit, sms: Sms): Html {
  const steps: (readonly [string, string | null])[] =
    sms.direction === 'inbound'
      ? [['Received', sms.created_at]]
      : [
          ['Accepted', sms.created_at],
          ['Handed to the carrier', sms.sent_at],
          [sms.status === 'failed' ? 'Failed' : 'Delivered', sms.ended_at],
        ];
  return html`<ol class="course">${steps.map(([what, at]) => html`<li${at === null ? html` class="quiet"` : ''}>${what}${at === null ? '' : html` ${ago(visit, at)}`}</li>`)}</ol>`;
}

function smsFacts(visit: Visit, sms: Sms): Html {
  return facts([
    ['ID', copiedId(sms.sms_id)],
    ['To', short(sms.to)],
    ['From', short(sms.from)],
    ['Carrier', html`${short(sms.vendor)}${sms.captured ? ' (nothing left the service)' : ''}`],
    ['Segments', String(sms.segments)],
    ['Encoding', sms.encoding],
    ['Cost', sms.direction === 'inbound' ? null : money(sms.cost_usd)],
    ['Created', time(visit, sms.created_at)],
  ]);
}
