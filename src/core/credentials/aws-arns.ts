// Names for AWS clients: an account is 12 digits, a queue is an ARN. Only the queue name in an ARN selects anything; the account is always that
// of the key.
import { hash } from 'node:crypto';
import type { Core } from '../core.ts';

/** 12 digits, the same for an account at all times. */
export function accountDigits(accountId: string): string {
  const word = Buffer.from(hash('sha256', `sqs ${accountId}`, 'hex'), 'hex').readBigUInt64BE();
  return String(word % 10n ** 12n).padStart(12, '0');
}

export function awsRegion({ region }: Pick<Core, 'region'>): string {
  return region === 'china' ? 'cn-north-1' : 'us-east-1';
}

export function queueArn(core: Pick<Core, 'region'>, accountId: string, name: string): string {
  return `arn:aws:sqs:${awsRegion(core)}:${accountDigits(accountId)}:${name}`;
}

/** The name in an ARN of a queue of the account; null: it is none. */
export function queueNameInArn(arn: string, accountId: string): string | null {
  const [, digits, name] = /^arn:aws[a-z-]*:sqs:[a-z0-9-]*:(\d{12}):([\w.-]{1,80})$/.exec(arn) ?? [];
  return name !== undefined && digits === accountDigits(accountId) ? name : null;
}
