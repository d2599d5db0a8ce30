// Approval rules: which calls of which keys wait for whom. Each has a page that changes and deletes it.
import { listPage } from '../../../../kit/console/list-page.ts';
import type { ConsolePage } from '../../../../kit/console/page.ts';
import { resourcePages, settingsPage } from '../../../../kit/console/resource-pages.ts';
import { facts } from '../../../../kit/console/table.ts';
import { ago, countOf, durationText, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { problem } from '../../../../problems/problem.ts';
import { approvalsRuleDelete } from '../../capabilities/approvals/rule-delete.ts';
import { approvalsRuleSet } from '../../capabilities/approvals/rule-set.ts';
import { approvalsRules } from '../../capabilities/approvals/rules.ts';
import { approvalTabs, RULES, rulePath, waitingCalls } from './approval.ts';
import { firstRule, newRule, type Rule, ruleFields, ruleName, ruleOf, whenText } from './rule.ts';

/** As many as there may be. */
const RULES_MAX = 50;
const NAMED_MAX = 4;

export const rulesPage: ConsolePage = listPage({
  name: 'approval_rules',
  path: RULES,
  title: 'Approval rules',
  caption: 'All rules',
  list: approvalsRules,
  above: (visit) => approvalTabs(visit, 'rules'),
  intro: 'A rule says which calls of which keys a person must approve before they run.',
  empty: firstRule,
  columns: (visit) => [
    { title: 'Name', cell: ({ name }) => html`<a href="${visit.path(rulePath(name))}">${short(name, 64)}</a>` },
    { title: 'Calls', cell: ({ capabilities }) => short(someOf(capabilities), 200) },
    { title: 'When', cell: (rule) => whenText(rule) || 'always' },
    { title: 'Keys', cell: ({ keys }) => (keys === null ? 'all' : countOf(keys.length, 'key')) },
    { title: 'Approved by', cell: approvedBy },
    { title: 'Time to decide', cell: ({ expires_seconds: seconds }) => durationText(seconds) },
    { title: 'Changed', cell: ({ updated_at: at }) => ago(visit, at) },
  ],
  create: {
    capability: approvalsRuleSet,
    heading: newRule.heading,
    intro: newRule.intro,
    form: newRule.form,
    input: (form) => ruleOf(form, ruleName(form)),
    done: 'Rule created. It binds from now on.',
  },
});

function someOf(names: readonly string[]): string {
  const rest = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function approvedBy({ approvers }: Rule): string {
  return approvers === null ? 'owners' : countOf(approvers.length, 'person', 'people');
}

const settings = settingsPage<Rule>({
  capability: approvalsRuleSet,
  fields: ruleFields,
  input: (form, { params }) => ruleOf(form, params.name),
  done: 'Rule saved. Calls that waited by the earlier one are asked about anew.',
  facts: (_, rule) =>
    facts([
      ['Calls', rule.capabilities.join(', ')],
      ['When', whenText(rule) || 'always'],
      ['Keys', rule.keys === null ? 'all' : countOf(rule.keys.length, 'key')],
      ['Approved by', approvedBy(rule)],
      ['Time to decide', durationText(rule.expires_seconds)],
    ]),
});

export const rulePages = resourcePages<Rule>({
  name: 'approval_rule',
  noun: 'rule',
  path: `${RULES}/{name}`,
  list: { title: 'Approval rules', path: RULES },
  needs: approvalsRules,
  read: findRule,
  nameOf: ({ name }) => name,
  pages: [{ ...settings, below: '', title: (name) => `Rule ${name}` }],
  deletion: {
    capability: approvalsRuleDelete,
    warning: () => 'Its calls run without asking from then on.',
    effect: deletionEffect,
  },
});

/** There is no capability for one: it is looked for in the list. Throws NOT_FOUND. */
async function findRule(visit: Visit): Promise<Rule> {
  const { items } = await visit.need(approvalsRules, { limit: RULES_MAX });
  const found = items.find(({ name }) => name === visit.params.name);
  if (found === undefined) throw problem('NOT_FOUND');
  return found;
}

async function deletionEffect(visit: Visit, { name }: Rule): Promise<Html> {
  const waits = (await waitingCalls(visit)).data?.filter(({ rule }) => rule === name).length ?? 0;
  return html`Calls that it meets run without asking from then on. ${waits} of those that wait are its own: they run when their programs repeat them.`;
}
