// Calls: which servers there are, and a token to look at.
import { codeBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { facts, table } from '../../../kit/console/table.ts';
import { ago, money } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { iceServers } from '../capabilities/ice-servers.ts';
import { token } from '../capabilities/token.ts';

const JOIN = 'join';
type Joined = DataOf<typeof token>;
type Server = DataOf<typeof iceServers>['ice_servers'][number];

const join: Act = actOf<(typeof token)['output']>({
  capability: token,
  input: (form) => ({ room: textOf(form, 'room'), identity: textOf(form, 'identity'), expires_seconds: 60 }),
  done: 'Token created.',
  answerView: (data, visit) => ({ title: 'Calls', content: tokenView(visit, data) }),
});

export const rtcPage: ConsolePage = {
  name: 'rtc',
  path: '/rtc',
  needs: iceServers,
  nav: { label: 'Calls', key: 'V', group: 'reach' },
  show,
  acts: { [JOIN]: join },
};

async function show(visit: Visit): Promise<View> {
  const servers = await visit.call(iceServers, { expires_seconds: 60 });
  const content = html`<h1>Calls</h1>
<p class="quiet">A token lets somebody into a room for audio and video. With a LiveKit server people meet there; without one, up to six browsers connect to one another.</p>
${panel(visit, 'STUN and TURN servers', servers, ({ ice_servers: items }) => serverTable(items))}
<h2>From your server</h2>
${codeBlock('token', visit.samples([[token, { room: 'stand-up', identity: 'ana', name: 'Ana' }]]))}
${visit.may(token) ? trial(visit) : ''}`;
  return { title: 'Calls', content };
}

function serverTable(rows: readonly Server[]): Html {
  return table<Server>({
    caption: 'STUN and TURN servers',
    rows,
    empty: html`<p>None. People whose networks allow no direct connection cannot join calls from browser to browser.</p>`,
    columns: [
      { title: 'Addresses', cell: ({ urls }) => urls.join(', ') },
      { title: 'Kind', cell: ({ credential }) => (credential === undefined ? 'STUN' : 'TURN') },
    ],
  });
}

function trial(visit: Visit): Html {
  return html`<h2>Try it</h2>
<p class="quiet">The token lives for a minute and costs ${money(0.0001)}.</p>
${actForm(
  visit,
  JOIN,
  html`${field(visit, JOIN, { name: 'room', label: 'Room', value: 'stand-up', isRequired: true })}
${field(visit, JOIN, { name: 'identity', label: 'Identity', value: 'ana', isRequired: true })}
<button class="main">Create token</button>`,
)}`;
}

/** The token itself is not shown: whoever reads it is in the room. */
function tokenView(visit: Visit, { mode, url, room, channel, expires_at: end }: Joined): Html {
  return html`<h1>Calls</h1>
<section class="panel" aria-label="The token">${facts([
    ['Mode', mode],
    ['Address', url],
    ['Room', room],
    ['Channel', channel],
    ['Expires', ago(visit, end)],
  ])}</section>
<p><a href="${visit.path('/rtc')}">Back to calls</a></p>`;
}
