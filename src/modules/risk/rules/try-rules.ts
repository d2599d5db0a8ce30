// Rules over the signals of past decisions. A hundred at a time, so that other calls go on in between.
import { setImmediate as breathe } from 'node:timers/promises';
import { type Action, TRIED_DECISIONS } from '../limits.ts';
import { pastDecisions, signalsThen } from '../score/decisions.ts';
import type { RiskState } from '../state.ts';
import { type Reason, type Rules, ruleSet } from './rule-set.ts';

const AT_ONCE = 100;
const EXAMPLES_MAX = 20;
const none = (): Record<Action, number> => ({ allow: 0, review: 0, block: 0 });

export async function tryRules({ core, ids }: RiskState, accountId: string, rules: Rules) {
  const set = ruleSet(rules);
  const past = await pastDecisions(core.db, accountId, TRIED_DECISIONS);
  const matched = new Map(rules.rules.map(({ id }) => [id, 0]));
  const [before, after] = [none(), none()];
  const changes: { risk_id: string; before: Action; after: Action; score: number }[] = [];
  for (const [i, decision] of past.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await breathe();
    const verdict = set.decide(signalsThen(decision));
    const [first] = JSON.parse(decision.reasons) as Reason[];
    const isListed = first?.rule.startsWith('list:') === true;
    const action = isListed ? decision.action : verdict.action;
    before[decision.action] += 1;
    after[action] += 1;
    for (const { rule } of verdict.reasons) matched.set(rule, (matched.get(rule) ?? 0) + 1);
    if (action === decision.action) continue;
    changes.push({
      risk_id: ids.of(accountId, decision.seq),
      before: decision.action,
      after: action,
      score: verdict.score,
    });
  }
  return {
    ...{ decisions: past.length, before, after, changed: changes.length },
    rules: [...matched].map(([id, count]) => ({ id, matched: count })),
    examples: changes.slice(0, EXAMPLES_MAX),
  };
}
