// Webhook events of errors: the event and its group, without fields that may be long or about users.
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  member,
  membersOf,
} from '../../kit/event-kind.ts';
import { eventSchema } from './schemas.ts';

const told = {
  ...membersOf(eventSchema, {
    event_id: 'evt_err_0vTq3mXkfR7bYc1LpZs8Ne',
    fingerprint: '9f2c1f0a6c2c6d0b7a3c1d2e4f5061728394a5b6c7d8e9f00112233445566778',
    error_group_id: 'errgrp_0vTq3mXkfR7bYc1LpZs8Ne',
    timestamp: '2026-11-01T12:00:00.000Z',
    level: 'error',
    title: 'disk full',
    message: 'disk full',
    environment: 'production',
    release: '1.4.2',
    tags: { host: 'web-3' },
  }),
  group_title: member.text('Title of the first event of the group.', 'disk full'),
  ...membersOf(eventSchema, { group_count: 17, group_user_count: 4 }),
  group_first_seen_at: member.instant('First event of the group.', '2026-10-29T08:15:00.000Z'),
  group_last_seen_at: member.instant('Latest event of the group.'),
  received_at: member.instant('When it was received.'),
  ...membersOf(eventSchema, {
    is_resolved: false,
    is_ignored: false,
    dashboard_url: 'https://infra.example.org/console/errors/errgrp_0vTq3mXkfR7bYc1LpZs8Ne',
  }),
};

const path: EventWords['path'] = (of) => `/errors/${of.error_group_id}`;
const kindOf = (of: EventRecord) =>
  of.is_new_group === true ? 'New error' : of.is_reopened === true ? 'Error came back' : 'Error goes on';

const words: Readonly<Record<string, EventWords>> = {
  'error.captured': {
    one: (of) => `${kindOf(of)}: ${of.group_title}`,
    many: (of, count) => `${kindOf(of)}: ${of.group_title}, told ${count} times`,
    path,
    tone: 'critical',
  },
  'error.rate_anomaly': {
    one: (of) => `Error rate up: ${of.group_title}, ${of.count_5m} in 5 minutes`,
    path,
    tone: 'critical',
  },
};

export const errorEvents: readonly EventKind[] = inWords(words, [
  eventKind('error.captured', 'An error group appeared, was reopened, or goes on (at most once a minute and group).', {
    ...told,
    is_new_group: member.flag('Whether it is the first event of its group.', false),
    is_reopened: member.flag('Whether it reopened a resolved group.', true),
  }),
  eventKind('error.rate_anomaly', 'An error group occurs far more often than before.', {
    ...told,
    count_5m: member.whole('Events of the group in the last 5 minutes.', 80),
    baseline_5m: member.number('Events of the group in 5 minutes of the hour before: a twelfth of them.', 1.5),
  }),
]);
