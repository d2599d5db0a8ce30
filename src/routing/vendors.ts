// The vendors of this process: their models and prices from the file, their health, their limits, and the chain of a request.

import type { Sweep } from '../core/background/sweeper/sweep.ts';
import type { Metric } from '../core/process/metric.ts';
import type { Database } from '../db/database.ts';
import { Problem } from '../problems/problem.ts';
import {
  type Adapter,
  type ModelFamily,
  type ModelRow,
  SANDBOX,
  type Vendor,
  type VendorRegion,
  type VendorsFile,
} from '../vendors/file/port.ts';
import { type Choice, choose, type Wish } from './choose.ts';
import type { Admittance, VendorHealth } from './health.ts';
import type { VendorLimits } from './limits.ts';
import { VendorMetrics } from './metrics.ts';
import { vendorNotices } from './notices.ts';
import { nobody, type Routing } from './routing.ts';

/** What this room adds to the services of a process. */
export interface RoutingPart {
  /** Whom outside work may be given to. */
  readonly vendors: Vendors;
}

export interface VendorsOptions {
  readonly file: VendorsFile;
  readonly families: readonly ModelFamily[];
  /** By the name of the family that they work for. */
  readonly adapters: Readonly<Record<string, readonly Adapter[]>>;
  /** Of this deployment. */
  readonly region: VendorRegion;
  readonly health: VendorHealth;
  readonly limits: VendorLimits;
  readonly routing: Routing;
  /** A key by the name that is stored of it; null when it is not there any more. */
  readonly readKey: (name: string) => string | null;
}

/** One vendor of a capability, as discovery shows it. */
export interface ListedVendor {
  readonly vendor: string;
  readonly region: VendorRegion;
  readonly isUp: boolean;
  readonly models: readonly string[];
  /** The least that a unit costs there, with markup. */
  readonly lowestNanos: bigint;
}

/** Whom `auto` leads to for the sample request of a capability. */
export interface SampleChain {
  readonly chain: readonly SampleLink[];
  /** Why the chain is empty; null: it is not. */
  readonly reason: 'no_vendor_configured' | 'excluded' | 'region' | null;
}

export interface SampleLink {
  readonly vendor: string;
  readonly model: string;
  readonly isUp: boolean;
  /** Of the sample request, with markup. */
  readonly nanos: bigint;
}

export class Vendors {
  readonly #options: VendorsOptions;
  readonly #rows: ReadonlyMap<string, ModelRow>;
  readonly #metrics = new VendorMetrics();

  constructor(options: VendorsOptions) {
    this.#options = options;
    this.#rows = new Map(options.file.rows.map((row) => [`${row.vendor.id} ${row.id}`, row]));
  }

  get health(): VendorHealth {
    return this.#options.health;
  }

  get routing(): Routing {
    return this.#options.routing;
  }

  get region(): VendorRegion {
    return this.#options.region;
  }

  /** Capabilities of which an account may exclude vendors. */
  get routable(): readonly string[] {
    return this.#options.families.flatMap(({ routable }) => routable?.capabilities ?? []);
  }

  /** Equal on processes that work with the same file. */
  get digest(): string {
    return this.#options.file.digest;
  }

  get all(): readonly Vendor[] {
    return this.#options.file.vendors;
  }

  /** Everything that the file and the sandbox have for a capability, what takes no work at present too. */
  rowsFor(capability: string): readonly ModelRow[] {
    return this.#options.file.rows.filter(({ serves }) => serves.includes(capability));
  }

  /** A row as it is in the file now; undefined when it is gone. */
  row(vendor: string, model: string): ModelRow | undefined {
    return this.#rows.get(`${vendor} ${model}`);
  }

  /**
   * Whom the request may go to. `excluded`: vendors that the account is never routed to. Throws INVALID_REQUEST, MODEL_NOT_FOUND and
   * VENDOR_NOT_AVAILABLE.
   */
  choose<Why>(wish: Wish<Why>, excluded: ReadonlySet<string> = nobody): Choice<Why> {
    const { file, region, health } = this.#options;
    return choose(wish, { vendors: file.vendors, rows: file.rows, region, excluded, nowMs: health.nowMs });
  }

  /** Whom `auto` leads to for the sample request of a routable capability. */
  sampleChain(capability: string, excluded: ReadonlySet<string>): SampleChain {
    const { families, health } = this.#options;
    const sampleNanos = families.find(({ routable }) => routable?.capabilities.includes(capability))?.routable
      ?.sampleNanos;
    if (sampleNanos === undefined) throw new Error(`${capability} is not routable`);
    const wish: Wish<'passed over'> = {
      capability,
      model: null,
      vendor: null,
      crossRegion: false,
      unable: (row) => (sampleNanos(capability, row) === null ? 'passed over' : null),
      quote: (row) => sampleNanos(capability, row) ?? 0n,
    };
    try {
      const choice = this.choose(wish, excluded);
      if (choice.kind === 'unable')
        return { chain: [], reason: excluded.size > 0 ? 'excluded' : 'no_vendor_configured' };
      const chain = choice.chain.map(({ vendor, model, quoteNanos }) => ({
        vendor,
        model,
        isUp: health.isUp(vendor, capability),
        nanos: quoteNanos,
      }));
      return { chain, reason: null };
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'VENDOR_NOT_AVAILABLE') throw error;
      return {
        chain: [],
        reason: error.detail === 'excluded' || error.detail === 'region' ? error.detail : 'no_vendor_configured',
      };
    }
  }

  /** Whether a capability is left without any vendor that takes work. */
  excludesAllVendors(capability: string, excluded: ReadonlySet<string>): boolean {
    return this.rowsFor(capability).every(({ vendor }) => vendor.disabled !== null || excluded.has(vendor.id));
  }

  /** Whether a call may be made now: within the limits of the file, and to a vendor that is up, or to try one that was down. */
  async enter(vendor: Vendor, capability: string): Promise<Admittance> {
    const admitted = await this.#enter(vendor, capability);
    if (admitted.kind === 'pass') {
      this.#metrics.count(vendor.id, capability, null);
      return admitted;
    }
    return {
      kind: 'go',
      reportOutcome: (outcome) => {
        admitted.reportOutcome(outcome);
        this.#metrics.count(vendor.id, capability, outcome);
      },
    };
  }

  async #enter(vendor: Vendor, capability: string): Promise<Admittance> {
    const { health, limits } = this.#options;
    const waitMs = await limits.begin(vendor, health.nowMs);
    if (waitMs !== null) return { kind: 'pass', reason: 'RATE_LIMIT_VENDOR', retryAfterMs: waitMs };
    const admitted = await health.enter(vendor.id, capability).catch((error: unknown) => {
      limits.end(vendor, false);
      throw error;
    });
    if (admitted.kind === 'pass') {
      limits.end(vendor, false);
      return admitted;
    }
    return {
      kind: 'go',
      reportOutcome(outcome) {
        admitted.reportOutcome(outcome);
        limits.end(vendor, outcome.keeps === true);
      },
    };
  }

  /** A line of a vendor's stream could not be read. */
  lineDropped(vendor: string): void {
    this.#metrics.lineDropped(vendor);
  }

  /** The code that speaks to a vendor, of the kind that the family's module knows. Throws for one that this service does not have. */
  adapter<A extends Adapter>(family: string, name: string): A {
    const found = this.#options.adapters[family]?.find((adapter) => adapter.name === name);
    if (found === undefined) throw new Error(`there is no adapter ${name} for ${family}`);
    return found as A;
  }

  /** The key that work began with, by its stored name; null when it is not there any more. */
  key(name: string): string | null {
    return this.all.find(({ key }) => key?.name === name)?.key?.reveal() ?? this.#options.readKey(name);
  }

  /** Its background work: none without vendors outside. */
  sweeps(db: Database): Sweep[] {
    const { file, region } = this.#options;
    if (file.vendors.length === 1) return [];
    const regionOf = (id: string) => file.vendors.find((vendor) => vendor.id === id)?.region ?? region;
    return [vendorNotices(db, regionOf), this.#metrics.sweep(db)];
  }

  /** Of vendors outside, for /metrics. */
  metrics(): Metric[] {
    const { file, health } = this.#options;
    const outside = file.rows.filter(({ vendor }) => vendor.id !== SANDBOX);
    const offered = [...Map.groupBy(outside, ({ vendor }) => vendor.id)].flatMap(([vendor, rows]) =>
      [...new Set(rows.flatMap(({ serves }) => serves))].map((capability) => ({ vendor, capability })),
    );
    return this.#metrics.metrics(offered, health.standings(), health.nowMs);
  }

  /** Who serves a capability now; null for one that no vendor can be configured for. */
  servedBy(capability: string): ListedVendor[] | null {
    const family = this.#options.families.find(({ capabilities }) => capabilities.includes(capability));
    if (family === undefined) return null;
    const { health } = this.#options;
    const offered = this.rowsFor(capability).filter(
      ({ vendor, validUntilMs }) => vendor.disabled === null && (validUntilMs === null || validUntilMs > health.nowMs),
    );
    return [...Map.groupBy(offered, ({ vendor }) => vendor)].map(([{ id, region }, rows]) => ({
      vendor: id,
      region,
      isUp: health.isUp(id, capability),
      models: rows.map((row) => row.id),
      lowestNanos: rows.map((row) => family.lowestNanos(row)).reduce((least, one) => (one < least ? one : least)),
    }));
  }
}
