import { defineCapability } from '../../../kit/capability.ts';
import type { ReadyEvent } from '../capture/capture-types.ts';
import { draftOf, type CaptureInput as SentEvent } from '../intake/capture-input.ts';
import { captureSchema } from '../intake/event-input.ts';
import { captureReady, readyToStore } from '../intake/ready-to-store.ts';
import { EVENT_BODY_BYTES_MAX } from '../limits.ts';
import { captureResultSchema } from '../schemas.ts';
import type { ErrorsState } from '../state.ts';

export const capture = defineCapability<ErrorsState>()({
  method: 'POST',
  path: '/v1/errors/capture',
  summary: 'Reports an error.',
  description:
    'Stores one event and adds it to its group. Everything is optional: message alone is enough, and a stack trace, tags and user_id make the ' +
    'group more useful. Events with the same fingerprint, else the same message, else the same exception type and value are one group. ' +
    'A new event reopens a resolved group, and the answer says so. Frames, exceptions and breadcrumbs may use the names of Sentry or of your language ' +
    '(function, filename, lineno, message, stack, timestamp); fields that nobody knows are named in metadata.warnings. Passwords, tokens, card numbers and the like are removed before anything is stored. ' +
    'Sentry SDKs report here with the DSN https://KEY@HOST/v1/errors/sentry/1 and a key of the scope errors.capture alone.',
  keywords: ['report exception', 'sentry capture', 'crash report', 'log error stack trace', 'exception tracking'],
  input: captureSchema,
  output: captureResultSchema,
  price: 'errors.capture',
  publishable: true,
  toleratesUnknownFields: true,
  bodyBytesMax: EVENT_BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (sent: SentEvent, { text, idempotencyKey }) => {
      const warnings: string[] = [];
      const value = readyToStore(draftOf(sent, warnings, text), idempotencyKey);
      return { value, transfer: [], warnings };
    },
  },
  opaque: ['context', 'extra', 'data', 'vars', 'mechanism', 'sdk', 'runtime', 'request', 'user'],
  events: ['error.captured', 'error.rate_anomaly', 'wallet.low_balance'],
  limits: {
    size: '1 MiB an event.',
    labels: 'user_id and release: 256 characters.',
    stacktrace: '250 frames with 5 lines of context on either side; of more the middle is left out.',
    lists: '100 tags and the latest 100 breadcrumbs are kept.',
    retention: '90 days; the group and its counts stay.',
  },
  examples: [
    {
      title: 'A message',
      input: { message: 'Payment provider timed out', level: 'error', tags: { provider: 'acme' }, user_id: 'u-17' },
      expect: { is_new_group: true },
    },
    {
      title: 'An exception with its stack',
      input: {
        exception: {
          type: 'TypeError',
          value: "Cannot read properties of undefined (reading 'id')",
          stacktrace: [{ func: 'loadUser', file: 'src/users.ts', line: 42, col: 17 }],
        },
        environment: 'production',
        release: '1.4.2',
        idempotency_key: 'crash-17',
      },
      expect: { is_new_group: true },
    },
    {
      title: 'An exception as a logger of another tool writes it',
      input: {
        exception: {
          type: 'java.sql.SQLException',
          message: 'connection refused',
          module: 'java.sql',
          mechanism: { type: 'UncaughtExceptionHandler', handled: false },
          stack: [{ function: 'connect', filename: 'Db.java', lineno: 88, module: 'com.example.Db' }],
        },
        tags: { attempt: 3, retried: true },
        user: { email: 'bob@example.org' },
      },
      expect: { is_new_group: true, reopened: false },
    },
  ],
  run({ ctx, input, state }) {
    // What `bulk` made of the input.
    return captureReady(ctx, state, input as unknown as ReadyEvent);
  },
});
