// The rules of the account, with what they found last.
import { listPage } from '../../../kit/console/list-page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, plainNumber, short } from '../../../kit/console/text.ts';
import type { Callable, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { list } from '../capabilities/rule/list.ts';
import { ALERTS, rulePagePath } from './paths.ts';
import { stateOf } from './state.ts';

/** It is derived from what all modules bring. */
const setRule: Callable = { id: 'alerts.rule.set' };

type Rule = ItemOf<typeof list>;

export const alertsPage = listPage({
  name: 'alerts',
  path: ALERTS,
  nav: { label: 'Alerts', key: 'N', group: 'observe' },
  title: 'Alerts',
  intro:
    'A rule looks at a value again and again, and tells whom you choose when it goes beyond a bound and when it comes back.',
  caption: 'Rules',
  list,
  empty: firstRule,
  columns: (visit) => [
    {
      title: 'Rule',
      cell: ({ rule, title }) => html`<a href="${visit.path(rulePagePath(rule))}">${short(title ?? rule, 80)}</a>`,
    },
    { title: 'State', cell: stateOf },
    { title: 'Since', cell: ({ since }) => ago(visit, since) },
    { title: 'Value', cell: ({ value }) => (value === null ? '' : plainNumber(value)) },
    { title: 'Fires', cell: boundText },
    { title: 'Looked at', cell: ({ looked_at: at }) => ago(visit, at, 'not yet') },
  ],
});

export function boundText({ above, below, when }: Pick<Rule, 'above' | 'below' | 'when'>): Html {
  const [source = ''] = Object.keys(when);
  if (above !== null) return html`${source} above ${plainNumber(above)}`;
  if (below !== null) return html`${source} below ${plainNumber(below)}`;
  return source === 'metrics' ? html`metrics: any series` : html`${source} above 0`;
}

function firstRule(visit: Visit): Html {
  const input = { rule: 'errors', when: { logs: { level: 'error', window_seconds: 300 } }, above: 10 };
  return teach('No rules yet. To be told of more than ten errors in five minutes:', visit.samples([[setRule, input]]));
}
