// A flag as JSON, the changes that it has had, and its end.
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { more, table } from '../../../kit/console/table.ts';
import { payload, short, time } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { history } from '../capabilities/history.ts';
import { update } from '../capabilities/update.ts';
import { FLAGS, flagPath, jsonOf } from './flags.ts';
import { type Flag, head, keyOf } from './one.ts';

const ROWS = 25;

export const flagSettingsPage: ConsolePage = {
  ...{ name: 'flag_settings', path: `${FLAGS}/{key}/settings`, needs: get, show: showSettings },
  acts: {
    update: {
      capability: update,
      input: (form, visit) => ({
        ...{
          key: keyOf(visit),
          revision: Number(form.get('revision')),
          description: textOf(form, 'description') ?? null,
        },
        ...{ default_variant: textOf(form, 'default_variant') ?? null, variants: jsonOf(form, 'variants') },
        ...{ targeting: jsonOf(form, 'targeting') ?? {}, metadata: jsonOf(form, 'metadata') ?? {} },
      }),
      done: 'Settings saved.',
    },
  },
};

export const flagHistoryPage: ConsolePage = {
  ...{ name: 'flag_history', path: `${FLAGS}/{key}/history`, needs: history, isLive: true, show: showHistory },
};

export const flagDeletePage: ConsolePage = {
  ...{ name: 'flag_delete', path: `${FLAGS}/{key}/delete`, needs: remove, show: showDelete },
  acts: {
    delete: {
      capability: remove,
      input(form, visit) {
        requireTyped(form, keyOf(visit), 'delete the flag');
        return { key: keyOf(visit) };
      },
      done: 'Flag deleted.',
      next: () => FLAGS,
    },
  },
};

async function showSettings(visit: Visit): Promise<View> {
  const flag = await visit.need(get, { key: keyOf(visit) });
  const content = html`${head(visit, flag, '/settings')}
${visit.may(update) ? settingsForm(visit, flag) : html`<p class="quiet">You may not change it.</p>`}
${dangerZone([
  visit.may(remove)
    ? {
        title: 'Delete this flag',
        text: 'Code that asks for it uses its own default from then on.',
        act: dangerLink(visit.path(`${flagPath(flag.key)}/delete`), 'Delete…'),
      }
    : null,
])}`;
  return { title: `Settings of ${flag.key}`, content };
}

function settingsForm(visit: Visit, flag: Flag) {
  const json = (name: 'variants' | 'targeting' | 'metadata', label: string, hint: string) =>
    field(visit, 'update', { name, label, hint, rows: 8, value: JSON.stringify(flag[name], null, 2) });
  const fields = html`${field(visit, 'update', { name: 'description', label: 'Description', value: flag.description ?? '' })}
${field(visit, 'update', { name: 'default_variant', label: 'Default variant', value: flag.default_variant ?? '', hint: 'Empty: the default of your code.', attributes: html`spellcheck="false"` })}
${json('variants', 'Variants', `JSON: values by name, all of type ${flag.type}.`)}
${json('targeting', 'Targeting', 'JSON: a rule of flagd that answers the name of a variant; {}: none.')}
${json('metadata', 'Metadata', 'JSON: texts, numbers and truth values.')}
<button class="main">Save</button>`;
  return actForm(visit, 'update', fields, { revision: String(flag.revision) });
}

async function showHistory(visit: Visit): Promise<View> {
  const key = keyOf(visit);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [flag, changes] = await Promise.all([
    visit.call(get, { key }),
    visit.call(history, { key, cursor, limit: ROWS }),
  ]);
  // Of a flag that is gone its history is left; of one that never was nothing is.
  if (changes.data?.items.length === 0) await visit.need(get, { key });
  const above =
    flag.data == null
      ? html`<p><a href="${visit.path(FLAGS)}">Feature flags</a></p><h1>${short(key, 128)}</h1><p class="quiet">The flag does not exist any more.</p>`
      : head(visit, flag.data, '/history');
  const content = html`${above}
${panel(
  visit,
  'Changes',
  changes,
  (page) =>
    html`${table({
      caption: 'Changes',
      rows: page.items,
      empty: html`<p>No changes are kept.</p>`,
      columns: [
        { title: 'Time', cell: ({ created_at }) => time(visit, created_at) },
        { title: 'Change', cell: ({ action }) => action },
        { title: 'Fields', cell: ({ changed_fields: fields }) => fields.join(', ') },
        { title: 'By', cell: ({ actor }) => html`<code>${short(actor, 80)}</code>` },
        {
          title: 'Then it was',
          cell: ({ flag: then, revision }) =>
            then === null
              ? ''
              : html`<details id="change-${revision}"><summary>Revision ${String(revision)}</summary>${payload(then, `The flag at revision ${revision}`, { call: 'flags.history' })}</details>`,
        },
      ],
    })}${more(visit, page)}`,
)}`;
  return { title: `History of ${key}`, content };
}

async function showDelete(visit: Visit): Promise<View> {
  const { key } = await visit.need(get, { key: keyOf(visit) });
  const content = html`<p><a href="${visit.path(flagPath(key))}">${short(key, 100)}</a></p>
<h1>Delete the flag</h1>
<p>Code that asks for it uses its own default from then on.</p>
${typedForm(visit, 'delete', { wanted: key, button: 'Delete' })}`;
  return { title: 'Delete a flag', content };
}
