// The page on which people see and set how long records of a module's blocks are kept.
import { html } from '../../lib/html.ts';
import type { BlockSettings } from '../block-settings.ts';
import { actForm, field, numberOf } from './form.ts';
import type { ConsolePage, View } from './page.ts';
import type { Visit } from './visit.ts';

/** `label`: the module's name in the navigation. */
export function blockSettingsPage({ kept, getSettings, setSettings }: BlockSettings, label: string): ConsolePage {
  const { module, noun } = kept;
  const title = `${label} settings`;
  async function show(visit: Visit): Promise<View> {
    const { retention_days: days } = await visit.need(getSettings);
    const input = field(visit, 'set', {
      name: 'retention_days',
      label: 'Retention (days)',
      value: String(days),
      isRequired: true,
      hint: `1 to ${kept.keepDays.max}. A shorter time deletes older ${noun} for good.`,
      attributes: html`inputmode="numeric"`,
    });
    const form = visit.may(setSettings)
      ? actForm(visit, 'set', html`${input}<button class="main">Save</button>`)
      : html`<p>Days that ${noun} are kept: ${days}.</p>`;
    const content = html`<p><a href="${visit.path(`/${module}`)}">${label}</a></p><h1>${title}</h1>${form}`;
    return { title, content };
  }
  return {
    name: `${module}.settings`,
    path: `/${module}/settings`,
    needs: getSettings,
    show,
    acts: {
      set: {
        capability: setSettings,
        input: (form) => ({ retention_days: numberOf(form, 'retention_days') }),
        done: 'Saved.',
      },
    },
  };
}
