// The doctor: finds broken invariants, such as books that do not add up, counters that disagree, or keys without a secret. Reads only.
// An account is first read beside running calls. Anything suspicious is read again under the account's lock before it is reported.

import { listAccounts } from '../core/accounts/accounts.ts';
import { lockAccount } from '../core/callers/lock.ts';
import { moduleOf } from '../core/callers/scopes.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import { rememberedFingerprint } from '../core/secrets/server-secret.ts';
import { acceptedUnits } from '../core/wallet/ledger/accepted-units.ts';
import type { Database, Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { type ExaminedModule, holdFaults } from './doctor-holds.ts';
import { paymentFaults } from './doctor-payments.ts';
import { rechargeFaults } from './doctor-recharges.ts';
import { differingVendors } from './doctor-vendors.ts';

export interface Finding {
  /** Null: of the database as a whole. */
  readonly accountId: string | null;
  readonly check:
    | 'balance'
    | 'held'
    | 'units'
    | 'usage'
    | 'keys'
    | 'key_cap'
    | 'hold'
    | 'payments'
    | 'debt'
    | 'directory'
    | 'secret'
    | 'vendors'
    | 'module';
  readonly message: string;
}

interface Patient {
  readonly db: Database;
  /** Null when the deployment has no server secret yet. */
  readonly secrets: Secrets | null;
  /** Those that count the units they accept; what others charge is not compared. */
  readonly modules: readonly ExaminedModule[];
}

const ACCOUNTS_PER_PAGE = 200;

// The ledger is what is left of its entries and the totals of those that were dropped; some may be in both for a while.
const UNFOLDED = `l.entry_seq > (SELECT coalesce(max(f.through_seq), -1) FROM core.ledger_folded f WHERE f.account_id = $1)`;

const readMoney = statement(
  'doctor_read_money',
  `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
          (SELECT coalesce(sum(g.remaining_nanos), 0) FROM core.credit_grant g WHERE g.account_id = $1) AS grants,
          (SELECT coalesce(sum(g.reserved_nanos), 0) FROM core.credit_grant g WHERE g.account_id = $1) AS reserved,
          (SELECT count(*) FROM core.credit_grant g WHERE g.account_id = $1 AND g.spent <> (g.remaining_nanos = 0)) AS mislaid,
          (SELECT coalesce(sum(h.amount_nanos), 0) FROM core.hold h WHERE h.account_id = $1 AND h.status = 'active') AS holds,
          (SELECT coalesce(sum(t.amount_nanos), 0) FROM core.ledger_total t WHERE t.account_id = $1)
            + (SELECT coalesce(sum(l.amount_nanos), 0) FROM core.ledger l WHERE l.account_id = $1 AND ${UNFOLDED}) AS ledger
     FROM core.wallet w
    WHERE w.account_id = $1`,
);

const readLedgerUnits = statement(
  'doctor_read_ledger_units',
  `SELECT j.capability, sum(j.units) AS units, -sum(j.amount_nanos) AS spend
     FROM (SELECT l.capability, l.kind, l.units, l.amount_nanos FROM core.ledger l WHERE l.account_id = $1 AND ${UNFOLDED}
           UNION ALL
           SELECT t.capability, t.kind, t.units, t.amount_nanos FROM core.ledger_total t WHERE t.account_id = $1) j
    WHERE j.kind IN ('charge', 'capture', 'reversal')
    GROUP BY j.capability`,
);

const readUsage = statement(
  'doctor_read_usage',
  `SELECT capability, sum(units) AS units, sum(spend_nanos) AS spend
     FROM core.usage_hour
    WHERE account_id = $1
    GROUP BY capability`,
);

const readBadKeys = statement(
  'doctor_read_bad_keys',
  `SELECT k.key_id, (k.revoked_at IS NOT NULL) AS revoked,
          count(s.secret_hash) FILTER (WHERE s.is_current AND s.expires_at IS NULL) AS current,
          count(s.secret_hash) FILTER (WHERE NOT s.is_current AND s.expires_at > core.clock_now()) AS earlier
     FROM core.api_key k
     LEFT JOIN core.api_secret s ON s.account_id = $1 AND s.key_id = k.key_id
    WHERE k.account_id = $1
    GROUP BY k.key_id, k.revoked_at`,
);

// What counts against a cap: in a day or month by the ledger, a capture in the window of its hold; in all by the usage, which is
// kept for good and must agree with the ledger. A window that is over counts no more: its entries and holds may be gone.
const readCaps = statement(
  'doctor_read_key_caps',
  `SELECT k.key_id, k.spend_used_nanos AS used, k.spend_held_nanos AS held,
          CASE k.spend_cap_period WHEN 'total' THEN
          (SELECT coalesce(sum(u.spend_nanos), 0) FROM core.usage_hour u WHERE u.account_id = $1 AND u.key_id = k.key_id)
          ELSE
          (SELECT coalesce(-sum(l.amount_nanos), 0)
             FROM core.ledger l
             LEFT JOIN core.hold h ON h.account_id = $1 AND l.kind = 'capture' AND h.hold_id = l.reference
            WHERE l.account_id = $1 AND l.key_id = k.key_id AND l.kind IN ('charge', 'capture', 'reversal') AND ${UNFOLDED}
              AND k.spend_window_start = CASE k.spend_cap_period
                    WHEN 'daily' THEN coalesce(h.day_start, date_trunc('day', l.created_at, 'UTC'))
                    WHEN 'monthly' THEN coalesce(h.month_start, date_trunc('month', l.created_at, 'UTC')) END)
          END AS booked,
          (SELECT coalesce(sum(h.amount_nanos), 0)
             FROM core.hold h
            WHERE h.account_id = $1 AND h.key_id = k.key_id AND h.status = 'active'
              AND (k.spend_cap_period = 'total' OR k.spend_window_start = CASE k.spend_cap_period
                    WHEN 'daily' THEN h.day_start WHEN 'monthly' THEN h.month_start END)) AS reserved
     FROM core.api_key k
    WHERE k.account_id = $1 AND k.spend_cap_nanos IS NOT NULL
      AND (   k.spend_cap_period = 'total'
           OR k.spend_window_start >= CASE k.spend_cap_period
                WHEN 'daily' THEN date_trunc('day', core.clock_now(), 'UTC')
                WHEN 'monthly' THEN date_trunc('month', core.clock_now(), 'UTC') END)`,
);

const countStrays = statement(
  'doctor_count_strays',
  `/* fan-out: rows without their owner, in all accounts */
   SELECT s.strays AS secrets, a.strays AS accounts, w.strays AS wallets
     FROM (SELECT count(*) AS strays
             FROM core.api_secret s LEFT JOIN core.api_key k ON k.account_id = s.account_id AND k.key_id = s.key_id
            WHERE k.key_id IS NULL) s,
          (SELECT count(*) AS strays
             FROM core.account a LEFT JOIN core.wallet w ON w.account_id = a.account_id
            WHERE w.account_id IS NULL) a,
          (SELECT count(*) AS strays
             FROM core.wallet w LEFT JOIN core.account a ON a.account_id = w.account_id
            WHERE a.account_id IS NULL) w`,
);

interface MoneyRow {
  readonly balance: bigint;
  readonly held: bigint;
  readonly grants: bigint;
  readonly reserved: bigint;
  readonly mislaid: bigint;
  readonly holds: bigint;
  readonly ledger: bigint;
}

interface UnitsRow {
  readonly capability: string;
  readonly units: bigint;
  readonly spend: bigint;
}

interface CapRow {
  readonly key_id: string;
  readonly used: bigint;
  readonly held: bigint;
  readonly booked: bigint;
  readonly reserved: bigint;
}

interface KeyRow {
  readonly key_id: string;
  readonly revoked: boolean;
  readonly current: bigint;
  readonly earlier: bigint;
}

/** Checks every account and the database as a whole. Answers how many accounts there are and what is wrong. */
export async function examine(patient: Patient): Promise<{ accounts: number; findings: Finding[] }> {
  const findings = await examineWhole(patient);
  let accounts = 0;
  let last = '';
  for (;;) {
    const page = await listAccounts(patient.db, last, ACCOUNTS_PER_PAGE);
    for (const { accountId } of page) {
      findings.push(...(await examineAccount(patient, accountId)));
      last = accountId;
    }
    accounts += page.length;
    if (page.length < ACCOUNTS_PER_PAGE) return { accounts, findings };
  }
}

/** What is wrong with one account. */
export async function examineAccount(patient: Patient, accountId: string): Promise<Finding[]> {
  const suspicions = await readAccount(patient, patient.db, accountId);
  if (suspicions.length === 0) return [];
  return patient.db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    return readAccount(patient, tx, accountId);
  });
}

async function readAccount({ modules }: Patient, db: Queryable, accountId: string): Promise<Finding[]> {
  const [money, ledger, usage, keys, caps, accepted, holds, payments, recharges, ...kept] = await Promise.all([
    db.query<MoneyRow>(readMoney, [accountId]),
    db.query<UnitsRow>(readLedgerUnits, [accountId]),
    db.query<UnitsRow>(readUsage, [accountId]),
    db.query<KeyRow>(readBadKeys, [accountId]),
    db.query<CapRow>(readCaps, [accountId]),
    acceptedUnits(db, accountId),
    holdFaults(modules, db, accountId),
    paymentFaults(db, accountId),
    rechargeFaults(db, accountId),
    ...modules.map(async (module) => (await module.examine?.(db, accountId)) ?? []),
  ]);
  const found = [
    ...money.rows.flatMap(moneyFaults),
    ...unitFaults(ledger.rows, accepted, modules),
    ...usageFaults(ledger.rows, usage.rows),
    ...keys.rows.flatMap(keyFaults),
    ...caps.rows.flatMap(capFaults),
    ...holds,
    ...payments,
    ...recharges,
    ...kept.flatMap((sentences, i) => sentences.map((text): Fault => ['module', `${modules[i]?.name}: ${text}`])),
  ];
  return found.map(([check, message]) => ({ accountId, check, message }));
}

type Fault = readonly [Finding['check'], string];

function moneyFaults(row: MoneyRow): Fault[] {
  const faults: Fault[] = [];
  const differ = (check: Finding['check'], what: string, a: bigint, b: bigint) => {
    if (a !== b) faults.push([check, `${what}: ${a} and ${b} nano-USD`]);
  };
  differ('balance', 'wallet balance and sum of grants differ', row.balance, row.grants);
  differ('balance', 'wallet balance and sum of the ledger differ', row.balance, row.ledger);
  differ('held', 'wallet held and sum of active holds differ', row.held, row.holds);
  differ('held', 'wallet held and sum reserved in grants differ', row.held, row.reserved);
  if (row.mislaid > 0n) faults.push(['balance', `${row.mislaid} grants are marked spent and are not, or the reverse`]);
  return faults;
}

function unitFaults(
  ledger: readonly UnitsRow[],
  accepted: ReadonlyMap<string, bigint>,
  modules: readonly ExaminedModule[],
): Fault[] {
  const counts = (capability: string) => modules.some(({ name }) => name === moduleOf(capability));
  const booked = ledger.filter(({ capability }) => counts(capability));
  const counted = [...accepted].filter(([capability]) => counts(capability));
  return differences(new Map(booked.map(({ capability, units }) => [capability, units])), new Map(counted)).map(
    ([capability, a, b]) => ['units', `${capability}: ${a} units in the ledger, ${b} counted by its module`],
  );
}

function usageFaults(ledger: readonly UnitsRow[], usage: readonly UnitsRow[]): Fault[] {
  const of = (rows: readonly UnitsRow[], field: 'units' | 'spend') =>
    new Map(rows.map((row) => [row.capability, row[field]]));
  const spend = differences(of(ledger, 'spend'), of(usage, 'spend'));
  const units = differences(of(ledger, 'units'), of(usage, 'units'));
  return [
    ...spend.map(([name, a, b]): Fault => ['usage', `${name}: ${a} nano-USD in the ledger, ${b} in the usage`]),
    ...units.map(([name, a, b]): Fault => ['usage', `${name}: ${a} units in the ledger, ${b} in the usage`]),
  ];
}

/** Names whose values differ; an absent one counts as 0. */
function differences(a: ReadonlyMap<string, bigint>, b: ReadonlyMap<string, bigint>): [string, bigint, bigint][] {
  const names = new Set([...a.keys(), ...b.keys()]);
  const pairs = [...names].map((name): [string, bigint, bigint] => [name, a.get(name) ?? 0n, b.get(name) ?? 0n]);
  return pairs.filter(([, left, right]) => left !== right);
}

function capFaults({ key_id, used, held, booked, reserved }: CapRow): Fault[] {
  if (used === booked && held === reserved) return [];
  const counted = `${used} nano-USD used and ${held} held are counted against its cap`;
  return [['key_cap', `${key_id}: ${counted}, ${booked} and ${reserved} are booked`]];
}

function keyFaults({ key_id, revoked, current, earlier }: KeyRow): Fault[] {
  if (revoked) return [];
  return [
    ...(current === 1n ? [] : [['keys', `${key_id} has ${current} current secrets`] as const]),
    ...(earlier <= 2n ? [] : [['keys', `${key_id} has ${earlier} earlier secrets alive`] as const]),
  ];
}

async function examineWhole({ db, secrets }: Patient): Promise<Finding[]> {
  const [strays, fingerprint, differing] = await Promise.all([
    db.query<{ secrets: bigint; accounts: bigint; wallets: bigint }>(countStrays, []),
    rememberedFingerprint(db),
    differingVendors(db),
  ]);
  const { secrets: orphans = 0n, accounts = 0n, wallets = 0n } = strays.rows[0] ?? {};
  const whole = (check: Finding['check'], message: string): Finding => ({ accountId: null, check, message });
  const found: Finding[] = [];
  if (orphans > 0n) found.push(whole('directory', `${orphans} secrets belong to no key`));
  if (accounts > 0n) found.push(whole('directory', `${accounts} accounts have no wallet`));
  if (wallets > 0n) found.push(whole('directory', `${wallets} wallets belong to no account`));
  if (fingerprint !== null && fingerprint !== secrets?.fingerprint) {
    found.push(whole('secret', 'the server secret is not the one this database was made with'));
  }
  if (differing !== null) found.push(whole('vendors', differing));
  return found;
}
