// The form of an approval rule, for a new one and for changes, and the words of its fields.
import { checkbox, checkboxes, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import type { NewForm } from '../../../../kit/console/new.ts';
import { teach } from '../../../../kit/console/table.ts';
import { durationText, exactMoney, plainNumber } from '../../../../kit/console/text.ts';
import type { Input, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { invalidField } from '../../../../problems/problem.ts';
import { approvalsRuleSet } from '../../capabilities/approvals/rule-set.ts';
import type { approvalsRules } from '../../capabilities/approvals/rules.ts';
import { type Names, nameOf, readNames } from './names.ts';

export type Rule = ItemOf<typeof approvalsRules>;

export const newRule: NewForm = {
  act: 'create',
  heading: 'New rule',
  capability: approvalsRuleSet,
  intro: 'A person approves the calls that the rule meets, before they run. Rules bind keys, not people who sign in.',
  form: async (visit, act) =>
    html`${field(visit, act, {
      name: 'name',
      label: 'Name',
      hint: 'Small letters, digits, ., _ and -. A rule of this name is replaced.',
      isRequired: true,
      attributes: html`maxlength="64" spellcheck="false" autocapitalize="off"`,
    })}
${await ruleFields(visit, act)}<button class="main">Create rule</button>`,
};

/** As the call has it, which says what is wrong with it. */
const CONDITION = 'when.input';
const HOUR_SECONDS = 3_600;
const lifetimes = [600, HOUR_SECONDS, 4 * HOUR_SECONDS, 24 * HOUR_SECONDS, 72 * HOUR_SECONDS, 168 * HOUR_SECONDS];
const USUAL_SECONDS = 24 * HOUR_SECONDS;

/** All but the name. */
export async function ruleFields(visit: Visit, act: string, rule?: Rule): Promise<Html> {
  const names = await readNames(visit);
  const { cost_usd_above: above = null, input = null, first_use_of_key: isFirst = false } = rule?.when ?? {};
  return html`${field(visit, act, {
    name: 'capabilities',
    label: 'Calls',
    value: (rule?.capabilities ?? []).join('\n'),
    rows: 3,
    isRequired: true,
    hint: 'One on each line: queue.delete, a module such as email, or * for all.',
  })}
${checkboxes(visit, act, {
  name: 'keys',
  label: 'Keys',
  hint: 'None chosen: all keys, those to come too.',
  options: keyOptions(names, rule?.keys ?? []),
  chosen: rule?.keys ?? [],
})}
${field(visit, act, {
  name: 'when.cost_usd_above',
  label: 'Only calls that may cost more than, USD',
  value: above === null ? '' : plainNumber(above),
  hint: 'Empty: whatever they cost.',
  attributes: html`inputmode="decimal"`,
})}
${field(visit, act, {
  name: CONDITION,
  label: 'Only inputs for which this holds',
  value: input === null ? '' : JSON.stringify(input, null, 2),
  rows: 3,
  hint: 'JsonLogic over the input: {"==": [{"var": "queue"}, "orders"]}. Empty: every input.',
})}
${checkbox(visit, act, { name: 'first_use', label: 'Only until the key has made such a call once', isChecked: isFirst })}
${checkboxes(visit, act, {
  name: 'approvers',
  label: 'Who approves',
  hint: 'Nobody chosen: the owners of the account.',
  options: personOptions(names, rule?.approvers ?? []),
  chosen: rule?.approvers ?? [],
})}
${choice(visit, act, {
  name: 'expires_seconds',
  label: 'Time to decide',
  value: String(rule?.expires_seconds ?? USUAL_SECONDS),
  options: lifetimeOptions(rule?.expires_seconds),
})}
${checkbox(visit, act, { name: 'reason_required', label: 'A decision needs words that say why', isChecked: rule?.reason_required ?? false })}
`;
}

/** Those that work, and those that the rule names. */
function keyOptions({ keys, keyName }: Names, named: readonly string[]) {
  const offered = keys.flatMap(({ key_id: id, status, prefix, last4, name }) =>
    status === 'active' || status === 'rotating' ? [[id, name ?? `${prefix}…${last4}`] as const] : [],
  );
  const others = named.filter((id) => !offered.some(([key]) => key === id));
  return [...offered, ...others.map((id) => [id, keyName(id)] as const)];
}

function personOptions({ people, personName }: Names, named: readonly string[]) {
  const offered = people.map((person) => [person.person_id, `${nameOf(person)}, ${person.role}`] as const);
  const others = named.filter((id) => !offered.some(([person]) => person === id));
  return [...offered, ...others.map((id) => [id, personName(id)] as const)];
}

function lifetimeOptions(own: number | undefined) {
  const all = [...new Set([...lifetimes, ...(own === undefined ? [] : [own])])].sort((one, other) => one - other);
  return all.map((seconds) => [String(seconds), durationText(seconds)] as const);
}

/** The whole rule, as the form has it. */
export function ruleOf(form: URLSearchParams, name: string | undefined): Input {
  const [keys, approvers] = [form.getAll('keys'), form.getAll('approvers')];
  return {
    name,
    capabilities: (form.get('capabilities') ?? '').split(/[\s,]+/).filter((each) => each !== ''),
    keys: keys.length === 0 ? null : keys,
    when: {
      cost_usd_above: numberOf(form, 'when.cost_usd_above') ?? null,
      input: conditionIn(form),
      first_use_of_key: form.has('first_use'),
    },
    approvers: approvers.length === 0 ? null : approvers,
    expires_seconds: numberOf(form, 'expires_seconds'),
    reason_required: form.has('reason_required'),
  };
}

/** Null: none was typed. Throws VALIDATION_FAILED. */
function conditionIn(form: URLSearchParams): unknown {
  const text = textOf(form, CONDITION);
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidField(CONDITION, 'json', `The condition must be JSON: ${(error as Error).message}.`);
  }
}

/** The name that the form of a new one has. */
export const ruleName = (form: URLSearchParams) => textOf(form, 'name');

/** `over $1.00, first use of a key`; empty: every such call. */
export function whenText({ when: { cost_usd_above: above, input, first_use_of_key: isFirst } }: Rule): string {
  const parts = [
    above === null ? '' : `may cost more than ${exactMoney(above)}`,
    isFirst ? 'first use of the key' : '',
    input === null ? '' : 'inputs that meet a condition',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** What an account without rules is told. */
export function firstRule(visit: Visit): Html {
  const sample = visit.samples([[approvalsRuleSet, { name: 'deletes', capabilities: ['queue.delete'] }]]);
  return html`<p>No rules yet, so no call waits. A rule says which calls of which keys a person must approve first, such as those that
delete something, cost much, or send mail. Until somebody decides, the call does nothing and costs nothing. The program waits, and repeats
the call once it is approved.</p>${teach('To have an owner approve each deletion of a queue:', sample)}`;
}
