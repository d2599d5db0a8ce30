// Tenant-isolation fixture of channels, messages and users, for the contract tests: creates them, and
// lists calls of another account that name them.

import { statement } from '../../db/statement.ts';
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';
import { randomText } from '../../lib/ids.ts';

/** Only open sockets make these rows. A process that lives as long as any test. */
const insertProcess = statement(
  'fixture_realtime_process',
  `INSERT INTO realtime.process (process_id, is_ended, lease_until) VALUES ('fixture', false, core.clock_now() + interval '1 year')
       ON CONFLICT (process_id) DO NOTHING`,
);
const insertChannels = statement(
  'fixture_realtime_occupancy',
  `INSERT INTO realtime.occupancy (account_id, channel, process_id, subscriptions) VALUES ($1, $2, 'fixture', 2), ($1, $3, 'fixture', 1)`,
);
const insertMembers = statement(
  'fixture_realtime_presence',
  `INSERT INTO realtime.presence (account_id, channel, user_id, process_id, user_info)
   VALUES ($1, $2, $3, 'fixture', 'null'), ($1, $2, 'second', 'fixture', 'null')`,
);

async function fill({ accountId, act, db }: Tenant) {
  const [channel, user] = [`presence-${randomText(12)}`, `user-${randomText(12)}`];
  const publish = () => act('realtime.publish', { channel, event: 'sign', data: { secret: channel } });
  const { items } = await publish();
  await publish();
  await db.query(insertProcess, []);
  await db.query(insertChannels, [accountId, channel, 'orders']);
  await db.query(insertMembers, [accountId, channel, user]);
  return { channel, user, message: items[0].message_id as string };
}

export const tenants: TenantFixture = {
  first: 'realtime.publish',
  nobody: { channel: 'presence-111111111111', user: 'user-111111111111', message: 'rtm_0SQWIMkKh1O' },
  fill,
  fillOther: fill,
  aims: {
    'realtime.publish': [({ channel }) => ({ channel, event: 'e', data: 1 })],
    'realtime.authorize': [({ channel }) => ({ channel, socket_id: '1.1', user_id: 'ana' })],
    'realtime.history': [
      ({ channel }) => ({ channel }),
      ({ message }) => ({ channel: 'orders', after: message }),
      ({ channel, message }) => ({ channel, after: message }),
    ],
    'realtime.channels': [({ channel }) => ({ prefix: channel })],
    'realtime.disconnect': [({ user }) => ({ user_id: user })],
  },
};
