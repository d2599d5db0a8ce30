// Rules that fire, or cannot be looked at.
import { failingLine, failuresIn, firstLines, limitOf, nothingFails } from '../../../kit/console/failing.ts';
import { ago, plainNumber, short } from '../../../kit/console/text.ts';
import type { Failures, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { alertList } from '../capabilities/list.ts';
import { ALERTS, rulePagePath } from './paths.ts';

const LIST_MAX = 100;
const KIND = 'Alert';

export async function firingAlerts(visit: Visit): Promise<Failures> {
  if (!visit.may(alertList)) return nothingFails;
  return failuresIn(visit, await visit.call(alertList, { limit: LIST_MAX }), (page) => {
    const firing = page.items.filter(({ state }) => state === 'firing');
    const unknown = page.items.filter(({ state }) => state === 'unknown');
    const rows = [...firing, ...unknown].map((alert) => lineOf(visit, alert));
    return {
      rows: firstLines(rows, (n) => html`<a href="${visit.path(ALERTS)}">${n} more alerts</a>`),
      count: rows.length,
      limits: limitOf(page, `first ${LIST_MAX} alerts`),
    };
  });
}

function lineOf(visit: Visit, { rule, title, state, since, value, words }: ItemOf<typeof alertList>): Html {
  const link = html`<a href="${visit.path(rulePagePath(rule))}">${short(title ?? rule, 80)}</a>`;
  if (state === 'unknown')
    return failingLine(KIND, html`${link} cannot be looked at: ${short(words ?? '', 200)}`, 'warning');
  const at = value === null ? '' : html`, at ${plainNumber(value)}`;
  return failingLine(KIND, html`${link} has been firing since ${ago(visit, since)}${at}`);
}
