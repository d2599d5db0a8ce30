// The flags of the account, and a form for a new one.
import { actForm, choice, field, jsonOf, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, countOf, figure, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { create, list, update } from '../capabilities/flags.ts';
import { FLAGS, flagPages, flagPath, stateOf } from './flag.ts';

type Flag = ItemOf<typeof list>;

const types = create.input.properties.type.enum;
const attributes = html`spellcheck="false" autocapitalize="off"`;

const flagsPage = listPage({
  name: 'flags',
  path: FLAGS,
  nav: { label: 'Flags', key: 'g', group: 'build' },
  title: 'Feature flags',
  intro: 'Every OpenFeature SDK asks for them.',
  caption: 'Flags',
  list,
  empty: (visit) =>
    teach(
      'No flags yet. To turn a feature on for testers and a quarter of your users:',
      visit.samples([[create, create.examples[0]?.input ?? {}]]),
    ),
  columns: (visit) => [
    { title: 'Key', cell: ({ key }) => html`<a href="${visit.path(flagPath(key))}">${short(key, 80)}</a>` },
    { title: 'On', cell: (flag) => turnSwitch(visit, flag) },
    { title: 'Rollout', cell: rolloutText },
    { title: 'Description', cell: ({ description }) => short(description ?? '', 80) },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Changed', cell: ({ updated_at }) => ago(visit, updated_at) },
  ],
  acts: {
    turn: {
      capability: update,
      input: (form) => ({ key: textOf(form, 'key'), enabled: form.get('enabled') === 'true' }),
      done: 'Flag turned on or off.',
    },
  },
  create: {
    capability: create,
    heading: 'New flag',
    input: (form) => ({
      key: textOf(form, 'key'),
      type: textOf(form, 'type'),
      description: textOf(form, 'description'),
      variants: jsonOf(form, 'variants'),
      default_variant: textOf(form, 'default_variant'),
    }),
    done: 'Flag created.',
    next: ({ key }) => flagPath(key),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'key', label: 'Key', isRequired: true, hint: 'As your code asks for it, such as new-checkout.', attributes })}
${field(visit, act, { name: 'description', label: 'Description' })}
<div class="pair">${choice(visit, act, { name: 'type', label: 'Type', value: 'boolean', options: types.map((type) => [type, type]) })}
${field(visit, act, { name: 'default_variant', label: 'Default variant', value: 'off', hint: 'When no rule decides. Empty: the default of your code.', attributes })}</div>
${field(visit, act, { name: 'variants', label: 'Variants', value: '{"on": true, "off": false}', rows: 4, isRequired: true, hint: 'JSON: values by name, all of the type above.' })}
<button class="main">Create flag</button>`,
  },
});

export const flagsConsole: ModuleConsole = { pages: [flagsPage, ...flagPages] };

/** A form of one button, which says what it is and does the other. */
function turnSwitch(visit: Visit, flag: Flag): Html {
  const { key, enabled } = flag;
  if (!visit.may(update)) return stateOf(flag);
  const button = html`<button role="switch" aria-checked="${String(enabled)}" class="switch" aria-label="${key}">${enabled ? 'On' : 'Off'}</button>`;
  return actForm(visit, 'turn', button, { key, enabled: String(!enabled) });
}

/** `2 rules, then on for 10 %`. */
function rolloutText({ enabled, default_variant: usual, conditions, rollout }: Flag): Html {
  if (!enabled) return html`<span class="quiet">the default of your code</span>`;
  if (rollout === null) return html`a rule of your own`;
  const rules = conditions === null || conditions === 0 ? '' : `${countOf(conditions, 'rule')}, then `;
  return html`${rules}${short(sharesText(rollout, usual), 120)}`;
}

/** One variant is the rest, and is not told: that which is off, or else the default, unless it gets all. */
function sharesText(rollout: Readonly<Record<string, number>>, usual: string | null): string {
  const shares = Object.entries(rollout).filter(([, percent]) => percent > 0);
  const [first, ...more] = shares;
  if (first === undefined) return 'the default of your code';
  if (more.length === 0) return `${first[0]} for everybody`;
  const rest = shares.map(([name]) => name).find((name) => ['off', 'false'].includes(name)) ?? usual;
  return shares
    .filter(([name]) => name !== rest)
    .map(([name, percent]) => `${name} for ${figure(percent)} %`)
    .join(', ');
}
