// Webhook event for a device that has fetched the key a person gave it; the core emits it (people/devices).
import { type EventKind, eventKind, member, membersOf, withoutCall } from '../../../../kit/event-kind.ts';
import { keySchema } from '../../schemas.ts';

const key = {
  key_id: 'key_0vTq3mXkfR7bYc1LpZs8Ne',
  project_id: 'proj_0vTq3mXkfR7bYc1LpZs8Ne',
  name: 'build-agent',
  scopes: ['queue'],
  status: 'active',
  prefix: 'qm_live_0vTq3mXk',
  last4: 'Ab3d',
  created_at: '2026-11-01T12:00:00.000Z',
  updated_at: '2026-11-01T12:00:00.000Z',
  last_used_at: null,
  expires_at: null,
  rotating_until: null,
  revoked_at: null,
  revoked_reason: null,
  flagged_at: null,
  spend_cap_usd: 5,
  spend_cap_period: 'daily',
  spend_used_usd: 0,
  spend_held_usd: 0,
  spend_window_end: '2026-11-02T00:00:00.000Z',
};

export const deviceEvents: readonly EventKind[] = withoutCall(
  { 'account.device_linked': 'A device fetched the key that a person had approved for it.' },
  [
    eventKind('account.device_linked', 'A device was linked to the account: it has a key of its own now.', {
      ...membersOf(keySchema, key),
      client_name: member.text('How the device calls itself; not verified.', 'build-agent'),
      address: member.text('Where the device asked from.', '203.0.113.7'),
    }),
  ],
);
