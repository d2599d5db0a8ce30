// Panel of current failures, as each module reports them, and the share of calls that failed.
import { withPeriod } from '../../../../kit/console/period.ts';
import { count, countOf, shareText } from '../../../../kit/console/text.ts';
import type { DataOf, Read, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { requestsList } from '../../capabilities/requests/list.ts';
import type { usage } from '../../capabilities/usage.ts';

type Calls = Pick<DataOf<typeof usage>, 'request_count' | 'error_count'>;

/** `usage`: of the period of the page. */
export async function failing(visit: Visit, usage: Promise<Read<Calls>>): Promise<Html> {
  const { rows, limits } = await visit.failures();
  const list = rows.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<ul class="plain failing">${rows}</ul>`;
  const looked = limits.length === 0 ? '' : html`<p class="small quiet">Of the ${limits.join(', the ')}.</p>`;
  return html`<section class="panel"><h2>Failing now</h2>${list}${looked}${errorRate(visit, await usage)}</section>`;
}

/** A failure of the call stands where the page shows the same figures. */
function errorRate(visit: Visit, { data: of }: Read<Calls>): Html {
  if (of === null || of.request_count === 0) return html``;
  const told = html`${count(of.error_count)} of ${countOf(of.request_count, 'call')} failed, ${shareText(of.error_count, of.request_count)}`;
  const path = visit.may(requestsList)
    ? '/requests?outcome=failed'
    : `/usage?${withPeriod(visit, { figure: 'failed' })}`;
  return html`<p class="small">In the period below <a href="${visit.path(path)}">${told}</a>.</p>`;
}
