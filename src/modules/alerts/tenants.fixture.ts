// Tenant-isolation fixture of alerts, for the contract tests: creates rules and their history, and lists calls of another account that name them.
import { statement } from '../../db/statement.ts';
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

const addChange = statement(
  'fixture_alerts_change',
  `INSERT INTO alerts.change (account_id, change_id, rule, at, state_before, state, series, notices, mails, created_at)
   VALUES ($1, $2, $3, core.clock_now(), 'ok', 'pending', '[]', 0, 0, core.clock_now())`,
);
const CHARACTERS = 22;

async function setRule({ act, db, accountId }: Tenant, rule: string): Promise<string> {
  await act('alerts.rule.set', { rule, when: { logs: { level: 'fatal' } }, above: 1_000, every_seconds: 3_600 });
  // As looks would have made them.
  for (const n of ['1', '2']) await db.query(addChange, [accountId, `alc_${rule}${n.repeat(CHARACTERS)}`, rule]);
  return rule;
}

export const tenants: TenantFixture = {
  first: 'alerts.rule.set',
  nobody: { rule: 'nobody' },
  async fill(tenant) {
    await setRule(tenant, 'second');
    return { rule: await setRule(tenant, 'theirs') };
  },
  async fillOther(tenant) {
    return { rule: await setRule(tenant, 'others') };
  },
  aims: {
    // Sets one of the caller's own, whatever it is called.
    'alerts.rule.set': [],
    'alerts.rule.get': [({ rule }) => ({ rule })],
    'alerts.rule.delete': [({ rule }) => ({ rule })],
    'alerts.history': [({ rule }) => ({ rule })],
    'alerts.silence': [({ rule }) => ({ rule, until: null })],
    'alerts.rule.try': [],
    'alerts.list': [],
    // Both are of the caller's own rules alone.
    'alerts.import': [],
    'alerts.export': [],
  },
  lists: {
    'alerts.history': ({ rule }) => ({ rule }),
    'alerts.list': () => ({ state: 'ok' }),
  },
};
