// The account's app: what programs connect with, shown when it is asked for, and another secret.
import { copiedBlock, copiedId, copiedSecret } from '../../../kit/console/copied.ts';
import { dangerZone } from '../../../kit/console/danger-zone.ts';
import { actForm, field, numberOf } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { app as realtimeApp } from '../capabilities/app.ts';
import { appRotate } from '../capabilities/app-rotate.ts';
import { realtimeTabs } from './tabs.ts';

type App = DataOf<typeof realtimeApp>;

const [SHOW, ROTATE] = ['show', 'rotate'];

export const appPage: ConsolePage = {
  name: 'realtime_app',
  path: '/realtime/app',
  needs: realtimeApp,
  show,
  acts: {
    [SHOW]: actOf({
      capability: realtimeApp,
      input: () => ({}),
      done: 'Shown.',
      answerView: (data, visit) => shownApp(data, visit),
    }),
    [ROTATE]: actOf({
      capability: appRotate,
      input: (form) => {
        const hours = numberOf(form, 'grace_hours');
        if (hours === 0)
          throw invalidField(
            'grace_hours',
            'range',
            'At least 1. The call realtime.app.rotate with 0 ends a secret at once.',
          );
        return { grace_hours: hours };
      },
      done: 'Secret rotated.',
      answerView: (data, visit) => shownApp(data, visit),
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  const grace = {
    name: 'grace_hours',
    label: 'Grace (hours)',
    value: '24',
    isRequired: true,
    hint: 'The secret before stays right for so long, up to 168.',
    attributes: html`inputmode="numeric"`,
  };
  const rotate = actForm(visit, ROTATE, html`${field(visit, ROTATE, grace)}<button class="danger">Rotate</button>`);
  const content = html`<h1>Realtime app</h1>
${realtimeTabs(visit, '/realtime/app')}
<p>Clients of Pusher connect with a key that everybody may know; servers sign with a secret. The app is an API key of this account, named “Realtime app”. It is made when you first show it.</p>
${actForm(visit, SHOW, html`<button class="main">Show the app</button>`)}
${dangerZone([visit.may(appRotate) ? { title: 'Rotate the secret', text: 'Servers need the new one.', act: rotate } : null])}`;
  return { title: 'Realtime app', content };
}

function shownApp(app: App, visit: Visit): View {
  const content = html`<h1>Realtime app</h1>
${realtimeTabs(visit, '/realtime/app')}
${facts([
  ['App ID', copiedId(app.app_id)],
  ['Key', copiedId(app.app_key, 'the key')],
  ['Host', app.host],
  ['WebSockets', app.ws_url],
])}
<h2>Secret</h2>
<p>Keep it on servers: whoever has it publishes for this account.</p>
${copiedSecret(app.app_secret, 'App secret')}
<h2>In a page</h2>
${snippet(pageCode(app))}
<h2>On a server</h2>
${snippet(serverCode(app))}`;
  return { title: 'Realtime app', content };
}

function snippet(text: string): Html {
  return copiedBlock(html`<pre class="text" tabindex="0" aria-label="Code">${text}</pre>`, 'the code');
}

function pageCode({ app_key: key, host, ws_url: url }: App): string {
  const { hostname, port, protocol } = new URL(
    `http://${host}`.replace(/^http/, url.startsWith('wss') ? 'https' : 'http'),
  );
  const isSecure = protocol === 'https:';
  const portText = port === '' ? '' : `, ${isSecure ? 'wssPort' : 'wsPort'}: ${port}`;
  return `const pusher = new Pusher('${key}', { wsHost: '${hostname}'${portText}, forceTLS: ${isSecure}, cluster: '', enabledTransports: ['ws', 'wss'] });
pusher.subscribe('orders').bind('created', (data) => console.log(data));`;
}

function serverCode({ app_id: id, app_key: key, host, ws_url: url }: App): string {
  return `const pusher = new Pusher({ appId: '${id}', key: '${key}', secret: process.env.APP_SECRET, host: '${host}', useTLS: ${url.startsWith('wss')} });
await pusher.trigger('orders', 'created', { id: 17 });`;
}
