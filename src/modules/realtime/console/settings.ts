// Settings page of module realtime: how long history is kept, and whether clients may publish.
import { actForm, checkbox, field, numberOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { getSettings, setSettings } from '../capabilities/settings.ts';
import { realtimeTabs } from './tabs.ts';

const SET = 'set';

export const settingsPage: ConsolePage = {
  name: 'realtime_settings',
  path: '/realtime/settings',
  needs: getSettings,
  show,
  acts: {
    [SET]: {
      capability: setSettings,
      input: (form) => ({
        history_seconds: numberOf(form, 'history_seconds'),
        client_events: form.has('client_events'),
      }),
      done: 'Saved.',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { history_seconds: seconds, client_events: clientEvents } = await visit.need(getSettings);
  const history = {
    name: 'history_seconds',
    label: 'History (seconds)',
    value: String(seconds),
    isRequired: true,
    hint: 'Up to 259,200 (72 hours). A shorter history hides older messages at once.',
    attributes: html`inputmode="numeric"`,
  };
  const box = checkbox(visit, SET, {
    name: 'client_events',
    isChecked: clientEvents,
    label: 'Clients may publish client-… events in private and presence channels',
  });
  const shown = visit.may(setSettings)
    ? actForm(visit, SET, html`${field(visit, SET, history)}${box}<button class="main">Save</button>`)
    : html`<p>Messages can be read again for ${String(seconds)} seconds. Client events are ${clientEvents ? 'allowed' : 'refused'}.</p>`;
  return {
    title: 'Realtime settings',
    content: html`<h1>Realtime settings</h1>${realtimeTabs(visit, '/realtime/settings')}${shown}`,
  };
}
