// `qm vendors`: checks the operator's vendors file, lists vendors with their health and costs, and makes one real test call.
import { Command } from 'commander';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { readVendorsText } from '../../config/vendors-text.ts';
import type { Module } from '../../kit/module.ts';
import { usd } from '../../lib/money.ts';
import { DAY_MS, iso, isoOrNull } from '../../lib/time.ts';
import type { FileFault } from '../../lib/yaml.ts';
import { readBills } from '../../routing/bills.ts';
import { type HealthRow, readHealth } from '../../routing/health-store.ts';
import { faultLine, inspectVendors, tryVendor } from '../../service/vendors-file.ts';
import type { ModelRow, Vendor, VendorsFile } from '../../vendors/file/port.ts';
import { wholeNumber } from '../fields.ts';
import { CommandError, print, table } from '../output.ts';
import { withSession } from './session.ts';

const EXIT_CONFIG = 78;
const DAYS = 30;
const DAYS_MAX = 400;

interface JsonOption {
  readonly json?: boolean;
}

export function vendorsCommand(): Command {
  const vendors = new Command('vendors').description('Outside vendors: VENDORS_FILE, health, costs.');
  const command = (name: string, description: string) =>
    vendors.command(name).description(description).option('--json', 'print one JSON object');
  command('check', 'Check VENDORS_FILE. Lists every fault with its line; exit code 78 when there is one.').action(
    check,
  );
  command('list', 'List vendors and models with prices, and who answers at present.').action(list);
  command(
    'costs',
    'What vendors billed, by day, vendor and cause: `sold` is what callers paid for, the rest is your loss.',
  )
    .option('--days <number>', `of the last so many days (default: ${DAYS})`, wholeNumber(DAYS_MAX))
    .option('--vendor <id>', 'of one vendor')
    .action(costs);
  command('test', 'Make one real call, the smallest there is. The vendor bills it; no wallet is touched.')
    .requiredOption('--vendor <id>', 'whom to call')
    .option('--model <id>', 'which of its models (default: the first)')
    .action(test);
  return vendors;
}

interface Inspected {
  readonly config: Config;
  readonly text: string | null;
  readonly file: VendorsFile;
  readonly faults: readonly FileFault[];
  readonly modules: readonly Module[];
}

async function inspect(): Promise<Inspected> {
  const { modules } = await import('../../modules/index.ts');
  const config = loadConfig(readEnv());
  const text = readVendorsText(config);
  return { config, text, modules, ...(await inspectVendors(text, config, modules)) };
}

/** The file of the other commands must be sound. */
async function inspectSound(): Promise<Inspected> {
  const found = await inspect();
  const [fault] = found.faults;
  if (fault === undefined) return found;
  throw new CommandError(`${faultLine(found.config.vendorsFile, fault)} (qm vendors check lists all faults)`);
}

async function check({ json = false }: JsonOption): Promise<void> {
  const { config, text, file, faults } = await inspect();
  const path = config.vendorsFile;
  const ok = faults.length === 0;
  const lines = [
    ...faults.map((fault) => faultLine(path, fault)),
    ...file.warnings.map((warning) => `note: ${warning}`),
  ];
  const verdict =
    text === null ? `${path} is not there: the sandbox serves alone` : `${path}: ${summary(file, faults)}`;
  const answer = { ok, path, exists: text !== null, faults, warnings: file.warnings };
  print({ json: answer, text: [...lines, verdict].join('\n'), ...(ok ? {} : { exitCode: EXIT_CONFIG }) }, json);
}

function summary({ vendors, rows }: VendorsFile, faults: readonly FileFault[]): string {
  if (faults.length > 0) return faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  const models = rows.filter(({ vendor }) => vendor.adapter !== 'sandbox').length;
  return `no fault; vendors beside the sandbox: ${vendors.length - 1}, models: ${models}`;
}

async function list({ json = false }: JsonOption): Promise<void> {
  const { file } = await inspectSound();
  const { rows: health } = await withSession(({ db }) => readHealth(db));
  const vendors = file.vendors.map((vendor) => ({
    vendor: vendor.id,
    adapter: vendor.adapter,
    base_url: vendor.baseUrl,
    region: vendor.region,
    key: vendor.key?.name ?? null,
    markup_pct: vendor.markupPct,
    priority: vendor.priority,
    disabled: vendor.disabled,
    models: file.rows.filter((row) => row.vendor.id === vendor.id).map(modelRecord),
    health: health.filter((row) => row.vendor === vendor.id).map(healthRecord),
  }));
  const lines = file.rows.map((row) => [
    row.vendor.id,
    row.id,
    row.vendor.region,
    row.serves.join(', '),
    JSON.stringify(row.price),
    standingOf(row.vendor, health),
  ]);
  print(
    { json: { vendors }, text: table([['VENDOR', 'MODEL', 'REGION', 'SERVES', 'PRICE', 'STATE'], ...lines]) },
    json,
  );
}

function modelRecord({ id, serves, price, priceVersion, flagship, validUntilMs }: ModelRow) {
  return { model: id, serves, price, price_version: priceVersion, flagship, valid_until: isoOrNull(validUntilMs) };
}

function healthRecord({ capability, state, reason, since, retry_at }: HealthRow) {
  return { capability, state, reason, since: isoOrNull(since), retry_at: isoOrNull(retry_at) };
}

function standingOf({ id, disabled }: Vendor, health: readonly HealthRow[]): string {
  if (disabled !== null) return `disabled ${disabled}`;
  const down = health.filter(({ vendor, state }) => vendor === id && state !== 'closed');
  return down.length === 0 ? 'up' : `down (${[...new Set(down.map(({ reason }) => reason))].join(', ')})`;
}

async function costs(options: JsonOption & { readonly days?: number; readonly vendor?: string }): Promise<void> {
  const { days = DAYS, vendor = null, json = false } = options;
  const bills = await withSession(({ db }) => readBills(db, Date.now() - (days - 1) * DAY_MS, vendor));
  const items = bills.map(({ dayMs, vendor: of, cause, bills: count, billedNanos, capturedNanos }) => ({
    day: iso(dayMs).slice(0, 10),
    vendor: of,
    cause,
    bills: count,
    billed_usd: usd(billedNanos),
    captured_usd: usd(capturedNanos),
  }));
  const lost = bills.filter(({ cause }) => cause !== 'sold').reduce((sum, { billedNanos }) => sum + billedNanos, 0n);
  const lines = items.map((item) => Object.values(item).map(String));
  const text = `${table([['DAY', 'VENDOR', 'CAUSE', 'BILLS', 'BILLED USD', 'CAPTURED USD'], ...lines])}\nlost: ${usd(lost)} USD`;
  print({ json: { items, lost_usd: usd(lost) }, text }, json);
}

async function test(options: JsonOption & { readonly vendor: string; readonly model?: string }): Promise<void> {
  const { vendor, model, json = false } = options;
  const { config, file, modules } = await inspectSound();
  const row = file.rows.find((each) => each.vendor.id === vendor && (model === undefined || each.id === model));
  if (row === undefined) throw new CommandError(`VENDORS_FILE has no model ${vendor}/${model ?? ''}`);
  if (row.vendor.disabled === 'its key is missing')
    throw new CommandError(`${vendor} is not called: its key is missing`);
  const say = (line: string) => void (json || process.stdout.write(`${line}\n`));
  const begunMs = performance.now();
  const tried = await tryVendor(row, config, modules, say);
  if (tried === null) throw new CommandError(`there is no call to make of ${vendor}/${row.id}`);
  const { ok, message } = tried;
  const answer = { ok, vendor, model: row.id, message, took_ms: Math.round(performance.now() - begunMs) };
  print({ json: answer, text: `${vendor}/${row.id}: ${message}`, ...(ok ? {} : { exitCode: 1 }) }, json);
}
