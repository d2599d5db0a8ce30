// One domain: the DNS records to create, how each stands, and a check of them now.
import { copiedBlock, copiedId } from '../../../kit/console/copied.ts';
import { actButton } from '../../../kit/console/form.ts';
import { resourcePages } from '../../../kit/console/resource-pages.ts';
import { badge, facts } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import { type Html, html } from '../../../lib/html.ts';
import { remove } from '../capabilities/domain/delete.ts';
import { get } from '../capabilities/domain/get.ts';
import { verify } from '../capabilities/domain/verify.ts';
import { type Domain, type DomainRecord, domainBadge } from './domain-parts.ts';
import { DOMAINS } from './tabs.ts';

/** A pending domain is checked in the background, which nothing tells. */
const AGAIN_SECONDS = 30;

export const domainPages = resourcePages<Domain>({
  name: 'email_domain',
  noun: 'domain',
  path: `${DOMAINS}/{domain}`,
  list: { title: 'Domains', path: DOMAINS },
  needs: get,
  read: (visit) => visit.need(get, { domain: visit.params.domain }),
  nameOf: ({ domain }) => domain,
  badge: (_, domain) => domainBadge(domain),
  about: (visit, { checked_at, created_at }) =>
    html`<p class="quiet">Checked ${ago(visit, checked_at)} · added ${ago(visit, created_at)}</p>`,
  againSeconds: ({ status }) => (status === 'verified' ? undefined : AGAIN_SECONDS),
  pages: [
    {
      below: '',
      isLive: true,
      actions: (visit) => (visit.may(verify) ? actButton(visit, 'verify', 'Check DNS now') : undefined),
      show: (_, domain) => ({ content: html`<p>${nextStep(domain)}</p>\n${domain.records.map(recordPanel)}` }),
      acts: {
        verify: {
          capability: verify,
          input: (_, { params }) => ({ domain: params.domain }),
          done: 'DNS records checked.',
        },
      },
    },
  ],
  deletion: {
    capability: remove,
    warning: () => 'Mail from it is refused, and its inboxes receive nothing.',
    effect: () =>
      'Mail from it is refused from now on, and its inboxes receive nothing. Mail already accepted is still sent.',
  },
});

const purposes: Readonly<Record<DomainRecord['purpose'], readonly [title: string, text: string]>> = {
  dkim: ['DKIM', 'Signs your mail, so that receivers know that it is yours.'],
  spf: ['SPF', 'Allows this service to send for the domain that bounces go to. Whoever runs the service sets it.'],
  mx: ['MX of bounces', 'Brings bounces back. Whoever runs the service sets it.'],
  dmarc: ['DMARC', 'Tells receivers what to do with mail that pretends to be yours.'],
  inbound: ['Inbound MX', 'Only for inboxes: mail to this domain then arrives here, and nowhere else.'],
};

function nextStep({ status, records }: Domain): string {
  const isWhole = records.every((record) => !record.required || record.status === 'ok');
  if (status === 'verified' && isWhole) return 'You can send from this domain. Its records are checked daily.';
  if (status === 'verified')
    return 'A required record is gone. The domain stays verified for three days: create it again.';
  if (status === 'failed') return 'The DKIM record was not there for three days. Create it, then check again.';
  return 'Create these records where the domain is managed. They are checked every 10 minutes for three days, then daily.';
}

function recordPanel({ purpose, type, name, value, required, status, found }: DomainRecord): Html {
  const [title, text] = purposes[purpose];
  const kind = status === 'ok' ? 'good' : required ? 'critical' : 'plain';
  const [preference = '', host = ''] = type === 'MX' ? value.split(' ') : [];
  return html`<section class="panel"><h2>${title} ${badge(status === 'ok' ? 'found' : status, kind)}</h2>
<p class="quiet">${text} ${required ? 'Required.' : 'Optional.'}</p>
${facts([
  ['Type', type],
  ['Name', html`<span class="breaking">${copiedId(name, 'the name')}</span>`],
  ['Value', type === 'MX' ? copiedId(host, 'the host') : valueBlock(title, value)],
  ['Priority', type === 'MX' ? preference : null],
  ['Found', found === null || found === value || found === host ? null : html`<code>${short(found, 300)}</code>`],
])}</section>`;
}

function valueBlock(title: string, value: string): Html {
  return copiedBlock(
    html`<pre class="text" tabindex="0" aria-label="Value of the ${title} record">${value}</pre>`,
    'the value',
  );
}
