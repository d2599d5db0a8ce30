import { defineCapability } from '../../../kit/capability.ts';
import type { ReadyEvent } from '../capture/capture-types.ts';
import { draftOf } from '../intake/capture-input.ts';
import { type MessageInput, messageSchema } from '../intake/event-input.ts';
import { captureReady, readyToStore } from '../intake/ready-to-store.ts';
import { EVENT_BODY_BYTES_MAX } from '../limits.ts';
import { captureResultSchema } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const message = defineCapability<ErrorsState>()({
  method: 'POST',
  path: '/v1/errors/message',
  summary: 'Reports a message.',
  description:
    'The short form of errors.capture for something worth knowing that is no exception: the text is the message and the title, and groups the ' +
    'event. level is info when not sent.',
  keywords: ['log message', 'capture message', 'report warning'],
  input: messageSchema,
  output: captureResultSchema,
  price: 'errors.capture',
  publishable: true,
  toleratesUnknownFields: true,
  bodyBytesMax: EVENT_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: ({ text: message, ...about }: MessageInput, { text: source, idempotencyKey }) => {
      const warnings: string[] = [];
      const sent = { ...about, message, level: about.level ?? 'info' } as const;
      const value = readyToStore(draftOf(sent, warnings, source), idempotencyKey);
      return { value, transfer: [], warnings };
    },
  },
  events: ['error.captured', 'error.rate_anomaly', 'wallet.low_balance'],
  limits: { size: '1 MiB an event.', retention: '90 days; the group and its counts stay.' },
  examples: [
    {
      title: 'Something worth knowing',
      input: { text: 'Nightly import skipped 3 rows', level: 'warning', environment: 'production' },
      expect: { is_new_group: true },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    return captureReady(ctx, state, input as unknown as ReadyEvent);
  },
});
