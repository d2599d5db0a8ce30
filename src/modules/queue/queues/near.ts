// Suggestions for a queue name that does not exist: similar names of the account, for callers that may list them.

import { scopesAllow } from '../../../core/callers/scopes.ts';
import { statement } from '../../../db/statement.ts';
import type { Module } from '../../../kit/module.ts';
import type { CallContext } from '../../../kit/services.ts';
import { nearest } from '../../../lib/nearest.ts';
import { Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import type { QueueState } from '../state.ts';

/** Before and behind it in the order of names. */
const NAMES_EACH_WAY = 50;

type QueueCapability = Module<QueueState>['capabilities'][number];

const selectBeside = statement(
  'queue_select_beside',
  `(SELECT q.name FROM queue.queue q WHERE q.account_id = $1 AND q.name >= $2 ORDER BY q.name LIMIT $3)
   UNION ALL
   (SELECT q.name FROM queue.queue q WHERE q.account_id = $1 AND q.name < $2 ORDER BY q.name DESC LIMIT $3)`,
);

/** The same operation; its QUEUE_NOT_FOUND names the nearest queue that there is. */
export function namingNearQueues(capability: QueueCapability): QueueCapability {
  return {
    ...capability,
    async run(call) {
      try {
        return await capability.run(call);
      } catch (error) {
        throw await withNearQueue(call.ctx, error, call.input as Readonly<Record<string, unknown>>);
      }
    },
  };
}

async function withNearQueue(
  { core, accountId, principal }: CallContext,
  error: unknown,
  input: Readonly<Record<string, unknown>>,
) {
  if (!(error instanceof Problem) || error.code !== 'QUEUE_NOT_FOUND' || error.param === undefined) return error;
  const sent = input[error.param];
  if (typeof sent !== 'string' || !scopesAllow(principal.scopes, 'queue.list', 'read')) return error;
  const { rows } = await core.db.query<{ name: string }>(selectBeside, [accountId, sent, NAMES_EACH_WAY]);
  const names = rows.map(({ name }) => name);
  const [near] = nearest(sent, names, 1);
  if (near === undefined) return error;
  const message = `${error.message} Did you mean ${near}?`;
  return problem('QUEUE_NOT_FOUND', { param: error.param, message, didYouMean: near, cause: error });
}
