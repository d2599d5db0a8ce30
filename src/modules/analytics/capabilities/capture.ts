import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { captureEvents } from '../capture/capture.ts';
import { captureSchema, readyCapture } from '../intake/native.ts';
import type { ReadyEvents } from '../intake/ready-events.ts';
import { BODY_BYTES_MAX, CAPTURE } from '../limits.ts';
import type { AnalyticsState } from '../state.ts';

export const capture = defineCapability<AnalyticsState>()({
  method: 'POST',
  path: '/v1/analytics/capture',
  summary: 'Stores what users did.',
  description:
    'Stores one event, or up to 1,000 in items. The event $identify with the property $anon_distinct_id says that two distinct IDs are one person, ' +
    '$create_alias with alias gives a person another ID; $set and $set_once in properties describe the person. Queries use the people as they are now. ' +
    'An event that is older than 365 days, or more than 10 minutes ahead, is named in rejected; the others are stored. Events of one uuid within 7 days count once. ' +
    "PostHog's clients report here with the host {base_url}/v1/analytics/posthog and a key of the scope analytics.capture alone.",
  keywords: ['track event', 'product analytics', 'page view', 'posthog capture', 'mixpanel track', 'user behaviour'],
  input: captureSchema,
  output: Type.Object({
    accepted: Type.Integer({ description: 'Events that are stored and charged.' }),
    duplicates: Type.Integer({ description: 'Events whose uuid came before: not stored again, not charged.' }),
    rejected: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Place of the event in the call, from 0.' }),
        reason: Type.String({ description: 'Why it is not stored.' }),
      }),
      { description: 'Events that are not stored, each with its reason.' },
    ),
  }),
  price: CAPTURE,
  publishable: true,
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (sent) => ({ value: readyCapture(sent, Date.now()), transfer: [] }),
  },
  opaque: ['properties'],
  events: ['wallet.low_balance'],
  limits: {
    size: '8 MiB a call; 64 KiB and 500 properties an event, 16 levels deep.',
    names: 'event, distinct_id and names of properties: 200 characters.',
    time: 'At most 365 days old and 10 minutes ahead.',
    people: '1,000 distinct IDs and 16 KiB of properties a person.',
    retention: '365 days, or as analytics.settings.set says.',
  },
  examples: [
    {
      title: 'The same event twice in one call',
      input: {
        items: [
          { event: 'signed_up', distinct_id: 'user-18', uuid: '0190f0e2-0000-7000-8000-000000000018' },
          { event: 'signed_up', distinct_id: 'user-18', uuid: '0190f0e2-0000-7000-8000-000000000018' },
        ],
      },
      expect: { accepted: 1, duplicates: 1 },
    },
    {
      title: 'An event',
      input: { event: 'plan_chosen', distinct_id: 'user-17', properties: { plan: 'pro', price: 49 } },
      expect: { accepted: 1, duplicates: 0, rejected: [] },
    },
    {
      title: 'A visitor turns out to be a user',
      input: {
        event: '$identify',
        distinct_id: 'user-19',
        properties: { $anon_distinct_id: 'browser-4f1c', $set: { email: 'ann@example.org' } },
      },
      expect: { accepted: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    await state.unpaid.check(ctx);
    // What `bulk` made of the input.
    return captureEvents(ctx, state, input as unknown as ReadyEvents);
  },
});
