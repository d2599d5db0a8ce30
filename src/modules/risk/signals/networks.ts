// Country and network of an address, by the operator's databases (RISK_MMDB, MaxMind format). They are read when first asked for, and
// again when a file has changed.
import { readFile, stat } from 'node:fs/promises';
import type { AsnResponse, CountryResponse, Reader } from 'maxmind';
import type { Logger } from '../../../core/process/logger.ts';

type Record = Partial<CountryResponse & AsnResponse>;
/** How long a file is trusted before it is looked at again. */
const LOOK_MS = 60_000;

interface Database {
  readonly path: string;
  /** Null: it could not be read yet. */
  reader: Reader<Record> | null;
  changedMs: number;
}

export interface Network {
  readonly country: string | null;
  readonly asn: number | null;
  readonly network: string | null;
}

export class Networks {
  readonly #log: Logger;
  readonly #databases: readonly Database[];
  readonly #lookMs: number;
  #lookedMs = -Infinity;
  #looked: Promise<unknown> = Promise.resolve();

  constructor(paths: readonly string[], log: Logger, lookMs = LOOK_MS) {
    this.#log = log;
    this.#lookMs = lookMs;
    this.#databases = paths.map((path) => ({ path, reader: null, changedMs: 0 }));
  }

  async of(ip: string): Promise<Network> {
    if (performance.now() - this.#lookedMs > this.#lookMs) {
      this.#lookedMs = performance.now();
      this.#looked = Promise.all(this.#databases.map((database) => this.#look(database)));
    }
    await this.#looked;
    const found: Record = Object.assign({}, ...this.#databases.map((database) => this.#find(database, ip)));
    return {
      country: found.country?.iso_code ?? found.registered_country?.iso_code ?? null,
      asn: found.autonomous_system_number ?? null,
      network: found.autonomous_system_organization ?? null,
    };
  }

  /** Nothing of a record that is damaged. */
  #find({ path, reader }: Database, ip: string): Record {
    try {
      return reader?.get(ip) ?? {};
    } catch (err) {
      this.#log.warn({ err, path }, 'a record of a database of RISK_MMDB cannot be read');
      return {};
    }
  }

  /** One that cannot be read serves as it was. */
  async #look(database: Database): Promise<void> {
    const { path } = database;
    try {
      const { mtimeMs } = await stat(path);
      if (mtimeMs === database.changedMs) return;
      const { Reader } = await import('maxmind');
      database.reader = new Reader<Record>(await readFile(path));
      database.changedMs = mtimeMs;
    } catch (err) {
      this.#log.warn({ err, path }, 'a database of RISK_MMDB cannot be read');
    }
  }
}
