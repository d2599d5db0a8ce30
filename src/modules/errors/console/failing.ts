// Errors of the last day that nobody has resolved.
import { failingLine, failuresIn, firstLines, nothingFails } from '../../../kit/console/failing.ts';
import { ago, countOf, short } from '../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { groups } from '../capabilities/groups.ts';
import { groupPath } from './group.ts';

const GROUPS_MAX = 20;

export async function failingErrors(visit: Visit): Promise<Failures> {
  if (!visit.may(groups)) return nothingFails;
  const input = { status: 'unresolved', sort: 'last_seen_desc', limit: GROUPS_MAX };
  return failuresIn(visit, await visit.call(groups, input), ({ items }) => {
    const rows = items
      .filter(({ last_seen_at }) => visit.nowMs - Date.parse(last_seen_at) < DAY_MS)
      .map(({ error_group_id: id, title, last_seen_at, trend_24h: { current } }) =>
        failingLine(
          'Error',
          html`<a href="${groupPath(visit, id)}">${short(title, 120)}</a> ${countOf(current, 'event')} in 24 hours, last ${ago(visit, last_seen_at)}`,
        ),
      );
    return {
      rows: firstLines(rows, () => html`<a href="${visit.path('/errors')}">more errors</a>`),
      count: rows.length,
      limits: [],
    };
  });
}
