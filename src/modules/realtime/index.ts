// The realtime module: channels that servers publish to and browsers listen to, over the Pusher protocol and Server-Sent Events.
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { app } from './capabilities/app.ts';
import { appRotate } from './capabilities/app-rotate.ts';
import { authorize } from './capabilities/authorize.ts';
import { channels } from './capabilities/channels.ts';
import { disconnect } from './capabilities/disconnect.ts';
import { history } from './capabilities/history.ts';
import { members } from './capabilities/members.ts';
import { publish } from './capabilities/publish.ts';
import { getSettings, setSettings } from './capabilities/settings.ts';
import { PUBLISH } from './limits.ts';
import { realtimeEvents } from './presence/events.ts';
import { httpRoutes } from './pusher/http/routes.ts';
import { socketRoutes } from './pusher/socket-routes.ts';
import { type RealtimeSettings, realtimeSettings } from './settings.ts';
import { closeRealtime, type RealtimeState, startRealtime } from './state.ts';
import { streamRoute } from './stream/route.ts';
import { realtimeSweeps } from './sweeps.ts';

const hasNoApp = noRowIn('realtime.app');
const hasNoMessages = noRowIn('realtime.message');

export const realtime = defineModule<RealtimeState, RealtimeSettings>({
  name: 'realtime',
  summary: 'Channels for live updates: publish from servers, listen in browsers, see who is there.',
  status: 'beta',
  clients: [
    {
      client: 'Pusher clients and server libraries (pusher-js, laravel-echo)',
      address: '{base_url}',
      use: 'channels, presence, client events',
      serves: ['realtime.publish', 'realtime.history', 'realtime.channels', 'realtime.members', 'realtime.disconnect'],
    },
  ],
  shownBy: ['realtime.publish', 'realtime.authorize'],
  capabilities: [app, appRotate, publish, authorize, history, channels, members, disconnect, getSettings, setSettings],
  console: async () => (await import('./console/index.ts')).realtimeConsole,
  prices: { [PUBLISH]: { unit: 'message and channel', nanosPerUnit: 2_000n } },
  events: realtimeEvents,
  rawRoutes: [streamRoute, ...httpRoutes],
  socketRoutes,
  settings: realtimeSettings,
  start: startRealtime,
  close: closeRealtime,
  isEmpty: async (db, accountId) => (await hasNoApp(db, accountId)) && (await hasNoMessages(db, accountId)),
  sweeps: realtimeSweeps,
});
