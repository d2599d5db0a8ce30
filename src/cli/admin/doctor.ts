import { Command } from 'commander';
import { requestOfAnyAccount } from '../../core/requests/store.ts';
import { Secrets } from '../../core/secrets/secrets.ts';
import { readServerSecret } from '../../core/secrets/server-secret.ts';
import { rangesText } from '../../lib/address.ts';
import { sequenceMs } from '../../lib/sequence.ts';
import { iso } from '../../lib/time.ts';
import { examine, type Finding } from '../../upkeep/doctor.ts';
import { keepDoctorResult } from '../../upkeep/doctor-result.ts';
import { engineWarnings } from '../../upkeep/engine-warning.ts';
import { type Backlog, backlogOf } from '../../webhooks/deliveries/backlog.ts';
import { print } from '../output.ts';
import { type Session, withSession } from './session.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check that the books add up: wallets, grants, ledger, holds, top-ups and what is owed, usage, the counters of the modules, keys and their caps, server secret, and that all processes work with the same file of vendors. ' +
        'Changes nothing but what it found last, which the operator can read. Exit code 1 when something is wrong.',
    )
    .option('--request <id>', 'show one call of any account that is in the request log, instead of a check')
    .option('--json', 'print one JSON object')
    .action(async ({ json = false, request }: { json?: boolean; request?: string }) => {
      if (request !== undefined) {
        print(requestFound(request, await withSession(({ db }) => requestOfAnyAccount(db, request))), json);
        return;
      }
      const found = await withSession(inspect);
      const { accounts, findings, warnings, privateTargets, privateSources, backlog } = found;
      const ok = findings.length === 0;
      const items = findings.map(({ accountId, check, message }) => ({ account_id: accountId, check, message }));
      const waiting = {
        events_waiting: backlog.eventsWaiting,
        deliveries_due: backlog.deliveriesDue,
        oldest_due_seconds: backlog.oldestDueSeconds,
      };
      const answer = {
        ok,
        accounts,
        findings: items,
        warnings,
        allow_private_targets: privateTargets,
        allow_private_sources: privateSources,
        backlog: waiting,
      };
      print({ json: answer, text: report(found), ...(ok ? {} : { exitCode: 1 }) }, json);
    });
}

export async function inspect(session: Session) {
  const { modules } = await import('../../modules/index.ts');
  const secret = await readServerSecret(session.config);
  const found = await examine({
    db: session.db,
    secrets: secret === null ? null : new Secrets(secret),
    modules,
  });
  await keepDoctorResult(session.db, { accounts: found.accounts, findings: found.findings.length });
  const privateTargets = rangesText(session.config.allowPrivateTargets);
  const privateSources = rangesText(session.config.allowPrivateSources);
  const warnings = session.db.distributed ? await engineWarnings(session.db) : [];
  return { ...found, warnings, privateTargets, privateSources, backlog: await backlogOf(session.db) };
}

/** What is said of it; null: it is not in the log. */
function requestFound(id: string, found: Awaited<ReturnType<typeof requestOfAnyAccount>>) {
  if (found === null) {
    const text = `${id} is not in the request log. It keeps failed and slow calls for 7 days.`;
    return { json: { found: false }, text, exitCode: 1 };
  }
  const { account_id, seq, ...row } = found;
  const shown = { account_id, at: iso(sequenceMs(seq)), ...row, cost_nanos: String(row.cost_nanos) };
  const known = Object.entries(shown).filter(([, value]) => value !== null);
  return {
    json: { found: true, ...Object.fromEntries(known.map(([name, value]) => [name, plain(value)])) },
    text: known.map(([name, value]) => `${name.padEnd(12)} ${plain(value)}`).join('\n'),
  };
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

interface Report {
  readonly accounts: number;
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  readonly privateTargets: readonly string[];
  readonly privateSources: readonly string[];
  readonly backlog: Backlog;
}

function report({ accounts, findings, warnings, privateTargets, privateSources, backlog }: Report): string {
  const lines = findings.map(({ accountId, check, message }) => `${accountId ?? 'database'}: ${check}: ${message}`);
  lines.push(...warnings.map((warning) => `warning: ${warning}`));
  if (privateTargets.length > 0)
    lines.push(`note: ALLOW_PRIVATE_TARGETS lets webhooks, push and cron send to ${privateTargets.join(', ')}`);
  if (privateSources.length > 0)
    lines.push(`note: ALLOW_PRIVATE_SOURCES lets every account read ${privateSources.join(', ')}`);
  const { eventsWaiting, deliveriesDue, oldestDueSeconds } = backlog;
  lines.push(
    `backlog: ${eventsWaiting} events without a number, ${deliveriesDue} deliveries due, the oldest for ${oldestDueSeconds} s`,
  );
  const verdict = findings.length === 0 ? 'everything adds up' : `${findings.length} findings`;
  return [...lines, `${accounts} accounts checked: ${verdict}`].join('\n');
}
