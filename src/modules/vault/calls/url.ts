// The URL of a call, which may be a path at the host of its connection.
import { clockNow } from '../../../core/database-clock.ts';
import type { CallContext } from '../../../kit/services.ts';
import { isPublic, readAddress } from '../../../lib/address.ts';
import { invalidField } from '../../../problems/problem.ts';
import { connectionMissing } from '../connections/missing.ts';
import type { Connection } from '../connections/row.ts';
import { ruleRefused } from '../connections/rule.ts';
import { findConnections } from '../connections/store.ts';
import { type RequestTarget, readRequestTarget } from '../rule/target.ts';

/** A connection as it is now. */
export interface Found {
  readonly connection: Connection;
  readonly nowMs: number;
}

/** Throws NOT_FOUND. */
export async function findConnection({ core, accountId }: CallContext, name: string): Promise<Found> {
  const { hot } = core.db;
  const [found, nowMs] = await Promise.all([findConnections(hot, accountId, [name]), clockNow(hot)]);
  const connection = found.get(name);
  if (connection === undefined) throw connectionMissing(name);
  return { connection, nowMs };
}

/** Throws VALIDATION_FAILED, and RULE_REFUSED for what no rule can compare. */
export function targetOf(connection: Connection, url: string): RequestTarget {
  return url.startsWith('/') ? targetAt(connection, url) : readTarget(url);
}

/** A path at the first host of the connection that is a name. Throws VALIDATION_FAILED, RULE_REFUSED. */
export function targetAt({ connection, hosts }: Pick<Connection, 'connection' | 'hosts'>, path: string): RequestTarget {
  const host = hosts.find((each) => !each.startsWith('*'));
  if (host === undefined) {
    const message = `The hosts of ${connection} are patterns: name the target by its whole URL, or add a host that is a name.`;
    throw invalidField('url', 'absolute', message);
  }
  return readTarget(`${schemeOf(host)}://${host}${path}`);
}

/** Plain http is for addresses of networks that the operator admits: the guard refuses all others. */
function schemeOf(host: string): 'http' | 'https' {
  const address = readAddress(/^\[(.*)\]/.exec(host)?.[1] ?? host.replace(/:\d+$/, ''));
  return address !== null && !isPublic(address) ? 'http' : 'https';
}

function readTarget(url: string): RequestTarget {
  const target = readRequestTarget(url);
  if ('refusal' in target) throw ruleRefused(target.refusal, target.message);
  return target;
}
