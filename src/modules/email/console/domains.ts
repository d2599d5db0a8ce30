// The domains that mail is sent from, and a new one.
import { field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, short } from '../../../kit/console/text.ts';
import { html } from '../../../lib/html.ts';
import { list } from '../capabilities/domain/list.ts';
import { verify } from '../capabilities/domain/verify.ts';
import { domainBadge, domainPath, recordsLeft } from './domain-parts.ts';
import { DOMAINS, emailTabs } from './tabs.ts';

export const domainsPage = listPage({
  name: 'email_domains',
  path: DOMAINS,
  title: 'Domains',
  caption: 'All domains',
  list,
  intro: 'Mail goes out only from a domain that you have verified by DNS records.',
  above: (visit) => emailTabs(visit, DOMAINS),
  filter: { name: 'status', label: 'Status of domains', values: ['verified', 'pending', 'failed'] },
  empty: (visit) =>
    teach('No domains. To add one and get its DNS records:', visit.samples([[verify, { domain: 'mail.example.org' }]])),
  columns: (visit) => [
    {
      title: 'Domain',
      cell: ({ domain }) => html`<a href="${visit.path(domainPath(domain))}">${short(domain, 80)}</a>`,
    },
    { title: 'Status', cell: domainBadge },
    { title: 'Records to add', cell: recordsLeft },
    { title: 'Checked', cell: ({ checked_at }) => ago(visit, checked_at) },
    { title: 'Added', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: verify,
    heading: 'Add domain',
    intro:
      'Use a domain or a subdomain that you own. A subdomain, such as mail.example.org, keeps the reputation of your mail apart.',
    input: (form) => ({ domain: textOf(form, 'domain') }),
    done: 'Domain added. Create its DNS records next.',
    next: ({ domain }) => domainPath(domain),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'domain', label: 'Domain', isRequired: true, attributes: html`inputmode="url" spellcheck="false" autocapitalize="off" placeholder="mail.example.org"` })}
<button class="main">Add domain</button>`,
  },
});
