// Rules over the signals of past decisions. A hundred at a time, so that other calls go on in between.
import { setImmediate as breathe } from 'node:timers/promises';
import type { Queryable } from '../../../db/database.ts';
import type { Action } from '../limits.ts';
import { decisionOf, LAST_SEQ, listDecisions } from '../score/decisions.ts';
import { RuleSet, type Rules } from './rule-set.ts';

export const TRIED_DECISIONS = 1_000;
const AT_ONCE = 100;
const EXAMPLES_MAX = 20;
const none = (): Record<Action, number> => ({ allow: 0, review: 0, block: 0 });

export async function tryRules(db: Queryable, accountId: string, rules: Rules) {
  const set = new RuleSet(rules);
  const past = await listDecisions(db, accountId, { before: LAST_SEQ, limit: TRIED_DECISIONS });
  const matched = new Map(rules.rules.map(({ id }) => [id, 0]));
  const [before, after] = [none(), none()];
  const changes: { risk_id: string; before: Action; after: Action; score: number }[] = [];
  for (const [i, row] of past.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await breathe();
    const decision = decisionOf(row);
    const verdict = set.decide(decision.signals);
    const isListed = decision.reasons[0]?.rule.startsWith('list:') === true;
    const action = isListed ? decision.action : verdict.action;
    before[decision.action] += 1;
    after[action] += 1;
    for (const { rule } of verdict.reasons) matched.set(rule, (matched.get(rule) ?? 0) + 1);
    if (action === decision.action) continue;
    changes.push({ risk_id: decision.risk_id, before: decision.action, after: action, score: verdict.score });
  }
  return {
    ...{ decisions: past.length, before, after, changed: changes.length },
    rules: [...matched].map(([id, count]) => ({ id, matched: count })),
    examples: changes.slice(0, EXAMPLES_MAX),
  };
}
