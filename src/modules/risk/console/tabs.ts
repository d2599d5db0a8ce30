// The pages of risk, as tabs, and what they share.
import { badge, pageTabs } from '../../../kit/console/table.ts';
import { short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { decisions } from '../capabilities/decisions.ts';
import { subject } from '../capabilities/decisions.ts';
import { listEntries } from '../capabilities/lists.ts';
import { rulesGet } from '../capabilities/rules.ts';

export type Decision = ItemOf<typeof decisions>;
export const RISK = '/risk';
export const RULES = '/risk/rules';
export const LISTS = '/risk/lists';
export const SUBJECT = '/risk/subject';

export function riskTabs(visit: Visit, here: string): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === here });
  return pageTabs('Pages of risk', [
    tab('Decisions', RISK),
    ...(visit.may(rulesGet) ? [tab('Rules', RULES)] : []),
    ...(visit.may(listEntries) ? [tab('Lists', LISTS)] : []),
  ]);
}

export function actionBadge({ action }: { readonly action: string }): Html {
  return badge(action, action === 'block' ? 'critical' : action === 'review' ? 'warning' : 'good');
}

export function reasonsText({ reasons }: Pick<Decision, 'reasons'>): Html {
  if (reasons.length === 0) return html`<span class="quiet">no rule matched</span>`;
  return short(reasons.map(({ rule, points }) => `${rule} ${points > 0 ? '+' : ''}${points}`).join(', '), 160);
}

/** Each leads to its timeline. */
export function keyLinks(visit: Visit, keys: readonly string[]): Html {
  const each = (key: string) => {
    const text = html`<code>${short(key, 14)}</code>`;
    return visit.may(subject)
      ? html`<a href="${visit.path(SUBJECT)}?key=${key}" title="${key}">${text}</a> `
      : html`${text} `;
  };
  return html`${keys.map(each)}`;
}
