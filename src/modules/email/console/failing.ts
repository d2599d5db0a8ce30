// Mail that failed lately, and domains that have failed.
import { failingLine, failuresIn, firstLines, limitOf, nothingFails } from '../../../kit/console/failing.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { list as listDomains } from '../capabilities/domain/list.ts';
import { list } from '../capabilities/list.ts';
import { domainPath } from './domain-parts.ts';
import { DOMAINS, mailPath, SENT } from './tabs.ts';

const LIST_MAX = 100;

export async function failingEmail(visit: Visit): Promise<Failures> {
  const [mails, domains] = await Promise.all([failedMails(visit), failedDomains(visit)]);
  return {
    rows: [...mails.rows, ...domains.rows],
    count: mails.count + domains.count,
    limits: [...mails.limits, ...domains.limits],
  };
}

async function failedMails(visit: Visit): Promise<Failures> {
  if (!visit.may(list)) return nothingFails;
  return failuresIn(visit, await visit.call(list, { status: 'failed', limit: LIST_MAX }), (page) => {
    const rows = page.items
      .filter(({ created_at: at }) => Date.parse(at) > visit.nowMs - DAY_MS)
      .map(({ email_id: id, subject, created_at: at }) =>
        failingLine(
          'Email',
          html`<a href="${visit.path(mailPath(id))}">${subject === '' ? 'No subject' : short(subject, 80)}</a> failed ${ago(visit, at)}`,
        ),
      );
    return {
      rows: firstLines(rows, (n) => html`<a href="${visit.path(`${SENT}?status=failed`)}">${n} more emails</a>`),
      count: rows.length,
      limits: rows.length === LIST_MAX ? limitOf(page, `newest ${LIST_MAX} failed emails`) : [],
    };
  });
}

async function failedDomains(visit: Visit): Promise<Failures> {
  if (!visit.may(listDomains)) return nothingFails;
  return failuresIn(visit, await visit.call(listDomains, { status: 'failed', limit: LIST_MAX }), (page) => {
    const rows = page.items.map(({ domain }) =>
      failingLine(
        'Domain',
        html`<a href="${visit.path(domainPath(domain))}">${short(domain, 80)}</a> is not verified: its DKIM record is missing`,
      ),
    );
    return {
      rows: firstLines(rows, (n) => html`<a href="${visit.path(`${DOMAINS}?status=failed`)}">${n} more domains</a>`),
      count: rows.length,
      limits: limitOf(page, `first ${LIST_MAX} failed domains`),
    };
  });
}
