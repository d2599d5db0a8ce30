// Messages between the processes behind one port: handlers in this process, and the questions that it asks the others.
import type { Core } from './core.ts';
import type { RequestLog } from './requests/request-log.ts';

/** `hasLoops`: background work runs here, which hints of the others' commits wake. */
export function hearSiblings({ siblings, db, keys, usage, requests, lanes }: Core, hasLoops: boolean): void {
  siblings.on('key.drop', (keyId: string) => keys.drop(keyId));
  siblings.on('keys.drop', (accountId: string) => keys.dropOf(accountId));
  siblings.on('usage.flush', (accountId: string) => usage.flushAccount(accountId));
  siblings.on('requests.flush', (accountId: string) => flushHere(requests, accountId));
  siblings.on('requests.recording', () => requests.readRecording(true));
  siblings.on('lanes.depth', () => lanes.depth);
  siblings.on('hint', (topic: string) => db.hint(topic));
  siblings.want('hint', hasLoops);
}

/** When this resolves, none of them remembers the key as it was before. */
export async function forgetKeyHere({ keys, siblings }: Core, keyId: string): Promise<void> {
  keys.drop(keyId);
  await siblings.ask('key.drop', keyId);
}

/** The same of all keys of the account. */
export async function forgetKeysHere({ keys, siblings }: Core, accountId: string): Promise<void> {
  keys.dropOf(accountId);
  await siblings.ask('keys.drop', accountId);
}

/** When this resolves, what they have counted of the account is in the database. */
export async function flushUsage({ usage, siblings }: Core, accountId: string): Promise<void> {
  await Promise.all([usage.flushAccount(accountId), siblings.ask('usage.flush', accountId)]);
}

/** When this resolves, what they have of the account's request log is in the database. */
export async function flushRequests({ requests, siblings }: Core, accountId: string): Promise<void> {
  await Promise.all([flushHere(requests, accountId), siblings.ask('requests.flush', accountId)]);
}

async function flushHere(requests: RequestLog, accountId: string): Promise<void> {
  await Promise.all([requests.flush(), requests.flushShort({ accountId })]);
}

/** When this resolves, all of them know which accounts have all calls recorded; those of other machines a few seconds later. */
export async function knowRecording({ requests, siblings }: Core): Promise<void> {
  await Promise.all([requests.readRecording(true), siblings.ask('requests.recording', null)]);
}

/** Billable calls that wait for or are in a commit, in all processes behind the port. */
export async function callsInLanes({ lanes, siblings }: Core): Promise<number> {
  const others = (await siblings.ask('lanes.depth', null)) as readonly number[];
  return others.reduce((sum, depth) => sum + depth, lanes.depth);
}
