// How long records are kept.
import { actForm, field, numberOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { getSettings, setSettings } from '../capabilities/settings.ts';

export const logsSettingsPage: ConsolePage = {
  name: 'logs.settings',
  path: '/logs/settings',
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

async function show(visit: Visit): Promise<View> {
  const { retention_days: days } = await visit.need(getSettings);
  const input = field(visit, 'set', {
    ...{ name: 'retention_days', label: 'Retention (days)', value: String(days), isRequired: true },
    hint: '1 to 90. A shorter time deletes older records for good.',
    attributes: html`inputmode="numeric"`,
  });
  const form = visit.may(setSettings)
    ? actForm(visit, 'set', html`${input}<button>Save</button>`)
    : html`<p>Records are kept for ${days} days.</p>`;
  const content = html`<p><a href="${visit.path('/logs')}">Logs</a></p><h1>Log settings</h1>${form}`;
  return { title: 'Log settings', content };
}
