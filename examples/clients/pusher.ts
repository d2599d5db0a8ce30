// Pusher's server library (npm install pusher) publishes to its browser client (npm install pusher-js): only host and keys change.
import Pusher from 'pusher';
import PusherClient from 'pusher-js';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const reply = await fetch(`${QM_URL}/v1/realtime/app`, { headers: { authorization: `Bearer ${QM_KEY}` } });
const { app_id: appId, app_key: key, app_secret: secret, host } = (await reply.json()).data;
const { hostname, port, protocol } = new URL(QM_URL);
const useTLS = protocol === 'https:';

// Its types name a default export within the default export.
const Client = PusherClient as unknown as typeof PusherClient.default;
const client = new Client(key, {
  wsHost: hostname,
  wsPort: Number(port),
  wssPort: Number(port),
  forceTLS: useTLS,
  cluster: '',
  enabledTransports: ['ws', 'wss'],
});
const server = new Pusher({ appId, key, secret, host, useTLS });

const channel = client.subscribe('orders');
channel.bind('pusher:subscription_succeeded', () => server.trigger('orders', 'created', { id: 17 }));
channel.bind('created', (data: { id: number }) => {
  console.log(`order ${data.id}`);
  client.disconnect();
});
