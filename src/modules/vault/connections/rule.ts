// Whether the rule of a connection lets a call through. It is asked at the door, and again under the locks of the commit that pays for the call.
import type { Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import { type Allow, refusalByAllow } from '../rule/allow.ts';
import { isHostAllowed } from '../rule/hosts.ts';
import type { RequestTarget } from '../rule/target.ts';
import type { Connection } from './row.ts';

/** A call as a rule looks at it. */
export interface RuledCall {
  /** Of the API key, or of a person's session. */
  readonly keyId: string;
  readonly method: string;
  readonly target: RequestTarget;
  /** It is a message of MCP that was compared with the tools: other doors do not read them. */
  readonly isMessage: boolean;
}

/** Another one whenever the connection is set anew, also after it was deleted. Its tokens may change. */
export function editionOf({ row, version, hosts }: Pick<Connection, 'row' | 'version' | 'hosts'>): string {
  return JSON.stringify([row.created_at, version, hosts]);
}

type Ruled = Pick<
  Connection,
  'connection' | 'hosts' | 'allow' | 'mcp' | 'keys' | 'expiresAtMs' | 'status' | 'brokenReason'
>;

/** Null: it lets the call through. */
export function refusalOf(ruled: Ruled, call: RuledCall, nowMs: number): Problem | null {
  return ruleRefusal(ruled, call) ?? brokenRefusal(ruled, nowMs);
}

function ruleRefusal(
  { connection, hosts, allow, keys, mcp }: Ruled,
  { keyId, method, target, isMessage }: RuledCall,
): Problem | null {
  if (keys !== null && !keys.includes(keyId))
    return ruleRefused('key', `This key may not use the connection ${connection}.`);
  if (!isHostAllowed(hosts, target)) {
    return ruleRefused(
      'host',
      `The connection ${connection} may not be used at ${target.host}: its hosts are ${hosts.join(', ')}.`,
    );
  }
  if (!isMessage && mcp !== null && mcp.tools !== null)
    return ruleRefused(
      'path',
      `The connection ${connection} allows tools alone: it is used by /mcp/via/${connection}.`,
    );
  switch (allow === null ? null : refusalByAllow(allow, method, target.path)) {
    case 'method':
      return ruleRefused('method', `The connection ${connection} allows this path, but not by ${method}.`);
    case 'path':
      return ruleRefused('path', `The connection ${connection} does not allow ${method} of this path.`);
    default:
      return null;
  }
}

/** Why the credential cannot be used now; null: it can. */
export function brokenRefusal({ connection, status, brokenReason, expiresAtMs }: Ruled, nowMs: number): Problem | null {
  if (status === 'pending') return brokenProblem(`Nobody has connected ${connection} yet.`, 'pending');
  if (status === 'broken')
    return brokenProblem(
      `The connection ${connection} is broken: ${brokenReason ?? 'its credential was refused'}.`,
      'broken',
    );
  if (expiresAtMs !== null && expiresAtMs <= nowMs)
    return brokenProblem(`The connection ${connection} has expired.`, 'expired');
  return null;
}

export function ruleRefused(
  detail: 'key' | 'host' | 'method' | 'path' | 'limit',
  message: string,
  retryAfterMs?: number,
): Problem {
  return problem('RULE_REFUSED', { detail, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

function brokenProblem(message: string, detail: string): Problem {
  return problem('CONNECTION_BROKEN', { message, detail });
}

export type { Allow };
