// A service whose file names doubles of vendors, and what became of money at both ends.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { readBills } from '../../src/routing/bills.ts';
import { eventually } from '../cron/harness.ts';
import type { TestDatabase } from '../support/database.ts';
import { type DoubleOptions, startVendor, type VendorDouble } from '../support/vendors/double.ts';
import type { DoubleJob, Wire } from '../support/vendors/wire.ts';
import { type Data, VideoBench } from './harness.ts';
import { makeVideo } from './sample.ts';

export interface VendorOptions extends DoubleOptions {
  readonly id: string;
  readonly wire: Wire;
  /** Of the vendor's entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Of its one model. */
  readonly model?: Readonly<Record<string, unknown>>;
}

/** What a second costs at every double, USD without markup. */
export const PER_SECOND = 0.04;

let video: Promise<Buffer> | undefined;

/** A video of one second. */
export function aVideo(): Promise<Buffer> {
  video ??= makeVideo().then((made) => made.video);
  return video;
}

export class VendorBench extends VideoBench {
  readonly doubles: ReadonlyMap<string, VendorDouble>;
  readonly env: Record<string, string>;
  readonly #folder: string;

  private constructor(
    bench: VideoBench,
    doubles: ReadonlyMap<string, VendorDouble>,
    folder: string,
    env: Record<string, string>,
    port: number | null,
  ) {
    const { service, account } = bench;
    super(port === null ? service : { ...service, url: `http://127.0.0.1:${port}` }, account);
    this.doubles = doubles;
    this.#folder = folder;
    this.env = env;
  }

  static async at(
    vendors: readonly VendorOptions[],
    env: Record<string, string> = {},
    database?: TestDatabase,
  ): Promise<VendorBench> {
    const folder = await mkdtemp(join(tmpdir(), 'qm-vendors-'));
    const bytes = await aVideo();
    const doubles = new Map<string, VendorDouble>();
    for (const { id, wire, ...options } of vendors) {
      doubles.set(id, await startVendor(wire, { video: { bytes }, endsAfterPolls: 1, ...options }));
    }
    const entries = vendors.map((vendor) => entryOf(vendor, doubles.get(vendor.id) as VendorDouble));
    const [keyFile, vendorsFile] = [join(folder, 'key'), join(folder, 'vendors.yaml')];
    await writeFile(keyFile, [...doubles.values()][0]?.key ?? '', { mode: 0o600 });
    await writeFile(vendorsFile, stringify({ version: 1, vendors: entries }, { aliasDuplicateObjects: false }));
    const all = { VENDORS_FILE: vendorsFile, ASSETS_URL: `file:${join(folder, 'assets')}`, ...env };
    // A service with an address of its own does not say where it listens.
    const port = env.BASE_URL === undefined ? null : await freePort();
    const bench = await VideoBench.start({ ...all, ...(port === null ? {} : { PORT: String(port) }) }, 100, database);
    return new VendorBench(bench, doubles, folder, all, port);
  }

  double(id: string): VendorDouble {
    const found = this.doubles.get(id);
    if (found === undefined) throw new Error(`there is no double ${id}`);
    return found;
  }

  /** A job of one second for everyone, or for whom `over` names. */
  job(over: Record<string, unknown> = {}): Promise<Data> {
    return this.generate({ model: 'auto', ...over });
  }

  /** The job once it has ended; the clock of the tests goes on meanwhile, so that nobody waits for polls. */
  async soon(
    id: string,
    isThere: (job: Data) => unknown = (job) => job.finished_at !== null,
    withinMs = 20_000,
  ): Promise<Data> {
    return eventually(async () => {
      const job = await this.get(id);
      if (await isThere(job)) return job;
      await this.service.advance(3);
      await sleep(80);
      return null;
    }, withinMs);
  }

  /** What comes true while the clock stands still. */
  until(isTrue: () => unknown): Promise<boolean> {
    return eventually(async () => (await isTrue()) === true);
  }

  /** A job that the vendor has taken, has been asked for, and goes on with until the test says otherwise. */
  async taken(vendor: string, over: Record<string, unknown> = {}): Promise<{ id: string; at: DoubleJob }> {
    const double = this.double(vendor);
    double.endsAfterPolls = null;
    const before = double.jobs.length;
    const { job_id: id } = await this.job({ vendor, ...over });
    await this.soon(id, () => (double.jobs[before]?.polls ?? 0) > 0);
    return { id, at: double.jobs[before] as DoubleJob };
  }

  /** What stands in the books of vendors: bills, what vendors are owed, and what callers paid, in USD. */
  async books(): Promise<Record<string, Data>> {
    const books: Record<string, Data> = {};
    for (const { vendor, cause, bills, billedNanos, capturedNanos } of await readBills(this.service.core.db, 0, null)) {
      // A test that passes midnight has two days of them.
      const known = books[`${vendor} ${cause}`] ?? { bills: 0, billed: 0, captured: 0 };
      books[`${vendor} ${cause}`] = {
        bills: known.bills + bills,
        billed: known.billed + Number(billedNanos) / 1e9,
        captured: known.captured + Number(capturedNanos) / 1e9,
      };
    }
    return books;
  }

  async close(): Promise<void> {
    await this.service.stop();
    for (const double of this.doubles.values()) await double.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function entryOf({ id, wire, entry, model }: VendorOptions, { baseUrl, assetHost }: VendorDouble) {
  const row = {
    id: wire.model,
    price: { per_second: PER_SECOND },
    seconds: { min: 1, max: 10 },
    seed: true,
    ...wire.options,
    ...model,
  };
  const where = { base_url: baseUrl, region: 'western', api_key: { file: './key' }, asset_hosts: [assetHost] };
  return { id, adapter: wire.name, ...where, ...entry, models: [row] };
}
