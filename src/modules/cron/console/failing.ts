// Schedules whose last run failed.
import { answerText } from '../../../kit/console/answer.ts';
import { failingLine, failuresIn, firstLines, limitOf, nothingFails } from '../../../kit/console/failing.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { list } from '../capabilities/list.ts';
import { jobPath } from './schedule.ts';

const LIST_MAX = 100;

export async function failingSchedules(visit: Visit): Promise<Failures> {
  if (!visit.may(list)) return nothingFails;
  return failuresIn(visit, await visit.call(list, { limit: LIST_MAX }), (page) => {
    const rows = page.items
      .filter(({ last_run }) => last_run?.status === 'failed')
      .map(({ job_id: id, name, last_run }) =>
        failingLine(
          'Schedule',
          html`<a href="${visit.path(jobPath(id))}">${short(name ?? id, 80)}</a> failed ${ago(visit, last_run?.started_at ?? null)}: ${last_run === null ? '' : (answerText(last_run) ?? '')}`,
        ),
      );
    return {
      rows: firstLines(rows, (n) => html`<a href="${visit.path('/schedules')}">${n} more schedules</a>`),
      count: rows.length,
      limits: limitOf(page, `newest ${LIST_MAX} schedules`),
    };
  });
}
