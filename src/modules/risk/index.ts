// The risk module: scores of sign-ups, logins, payments and messages, by an account's own rules, lists and traffic.
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { decisions, subject } from './capabilities/decisions.ts';
import { listAdd, listEntries, listRemove } from './capabilities/lists.ts';
import { rulesGet, rulesSet, rulesTry } from './capabilities/rules.ts';
import { score } from './capabilities/score.ts';
import { riskLimits } from './lists/entries.ts';
import { SCORE } from './score/effect.ts';
import { type RiskSettings, type RiskState, riskSettings, startRisk } from './state.ts';
import { riskSweeps } from './sweeps.ts';

export const risk = defineModule<RiskState, RiskSettings>({
  name: 'risk',
  summary: 'Risk scores of sign-ups, logins, payments and messages, by your own rules, lists and traffic.',
  status: 'beta',
  shownBy: ['risk.score', 'risk.list.add'],
  capabilities: [score, subject, decisions, rulesGet, rulesSet, rulesTry, listAdd, listRemove, listEntries],
  console: async () => (await import('./console/index.ts')).riskConsole,
  prices: { [SCORE]: { unit: 'call', nanosPerUnit: 500_000n } },
  limits: riskLimits,
  settings: riskSettings,
  start: startRisk,
  close: async ({ mailExchangers }) => mailExchangers.close(),
  isEmpty: noRowIn('risk.window'),
  sweeps: riskSweeps,
});
