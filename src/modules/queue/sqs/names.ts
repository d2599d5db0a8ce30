// Queue names of SQS clients: original spelling, URLs and ARNs. Of URLs and ARNs only the name is read: the account is that of the key.

import { accountDigits } from '../../../core/credentials/aws-arns.ts';
import type { Services } from '../../../kit/services.ts';
import { problem } from '../problems.ts';
import type { QueueRow } from '../queues/records.ts';
import type { QueueState } from '../state.ts';
import { invalid, missing } from './failures.ts';
import { type Fields, optionalText } from './request.ts';

const FIFO = '.fifo';
const NEW_NAME = /^[A-Za-z0-9_-]{1,80}$/;

/** As clients of SQS see it: FIFO queues end in `.fifo` there. */
export function shownName({ name, type, sqs_name }: Pick<QueueRow, 'name' | 'type' | 'sqs_name'>): string {
  if (sqs_name !== null) return sqs_name;
  return type === 'fifo' && !name.endsWith(FIFO) ? name + FIFO : name;
}

/** The native name of a queue to be made. Throws InvalidParameterValue. */
export function nativeName(name: string, isFifo: boolean): string {
  const stem = isFifo && name.endsWith(FIFO) ? name.slice(0, -FIFO.length) : name;
  if (!NEW_NAME.test(stem) || name.length > 80) {
    throw invalid(
      'QueueName',
      'It has 3 to 80 letters, digits, hyphens and underscores; that of a FIFO queue ends in .fifo.',
    );
  }
  if (stem.length < 3) throw invalid('QueueName', 'Here a name has at least 3 characters.');
  if (isFifo !== name.endsWith(FIFO)) {
    throw invalid('QueueName', 'The name of a FIFO queue ends in .fifo, and no other one does.');
  }
  return name.toLowerCase();
}

/**
 * The queue that a client means by its name, as it is spelled. `mayBeRemembered`: it may be as it was a while ago, for what looks at the
 * queue again. Throws QUEUE_NOT_FOUND.
 */
export async function queueNamed(
  state: QueueState,
  accountId: string,
  name: string,
  mayBeRemembered = false,
): Promise<QueueRow> {
  const native = name.toLowerCase();
  const names = native.endsWith(FIFO) ? [native, native.slice(0, -FIFO.length)] : [native];
  for (const each of names) {
    if (each.length < 3 || each.length > 80) continue;
    const row = await existing(state, accountId, each, mayBeRemembered);
    if (row !== null && shownName(row) === name) return row;
  }
  throw problem('QUEUE_NOT_FOUND', { param: 'QueueUrl', message: 'The specified queue does not exist.' });
}

async function existing({ cache }: QueueState, accountId: string, name: string, mayBeRemembered: boolean) {
  try {
    return await (mayBeRemembered ? cache.get(accountId, name) : cache.refresh(accountId, name));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'QUEUE_NOT_FOUND';
}

/** The name in the QueueUrl of the request, or in the address that it was sent to. Throws MissingParameter. */
export function nameInUrl(fields: Fields, inPath: string | undefined): string {
  const url = optionalText(fields, 'QueueUrl', 2_048) ?? inPath;
  if (url === undefined || url === '') throw missing('QueueUrl');
  const end = url.split(/[?#]/, 1)[0] as string;
  return end.slice(end.lastIndexOf('/') + 1);
}

export function queueUrl({ baseUrl }: Pick<Services, 'baseUrl'>, accountId: string, name: string): string {
  return `${baseUrl}/sqs/${accountDigits(accountId)}/${name}`;
}
