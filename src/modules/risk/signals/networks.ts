// Country and network of an address, by the operator's databases (RISK_MMDB, MaxMind format). They are read when first asked for, and
// again when a file has changed.
import { readFile, stat } from 'node:fs/promises';
import type { AsnResponse, CountryResponse, Reader } from 'maxmind';
import type { Logger } from '../../../core/process/logger.ts';

type Record = Partial<CountryResponse & AsnResponse>;
/** How long a file is trusted before it is looked at again. */
const LOOK_MS = 60_000;

interface Opened {
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
  readonly #files: ReadonlyMap<string, Opened>;
  readonly #lookMs: number;
  #lookedMs = -Infinity;
  #looking: Promise<void> | null = null;

  constructor(paths: readonly string[], log: Logger, lookMs = LOOK_MS) {
    this.#log = log;
    this.#lookMs = lookMs;
    this.#files = new Map(paths.map((path) => [path, { reader: null, changedMs: 0 }]));
  }

  async of(ip: string): Promise<Network> {
    if (this.#files.size === 0) return { country: null, asn: null, network: null };
    if (performance.now() - this.#lookedMs > this.#lookMs) this.#look();
    // A file that is read anew serves as it was until then.
    if (this.#looking !== null && [...this.#files.values()].some(({ reader }) => reader === null)) await this.#looking;
    const found = Object.assign(
      {},
      ...[...this.#files].map(([path, { reader }]) => this.#get(path, reader, ip)),
    ) as Record;
    return {
      country: found.country?.iso_code ?? found.registered_country?.iso_code ?? null,
      asn: found.autonomous_system_number ?? null,
      network: found.autonomous_system_organization ?? null,
    };
  }

  /** Nothing of a record that is damaged. */
  #get(path: string, reader: Reader<Record> | null, ip: string): Record {
    try {
      return reader?.get(ip) ?? {};
    } catch (err) {
      this.#log.warn({ err, path }, 'a record of a database of RISK_MMDB cannot be read');
      return {};
    }
  }

  #look(): void {
    this.#lookedMs = performance.now();
    this.#looking ??= Promise.all([...this.#files].map((entry) => this.#read(...entry))).then(() => {
      this.#looking = null;
    });
  }

  async #read(path: string, opened: Opened): Promise<void> {
    try {
      const { mtimeMs } = await stat(path);
      if (mtimeMs === opened.changedMs) return;
      const { Reader } = await import('maxmind');
      opened.reader = new Reader<Record>(await readFile(path));
      opened.changedMs = mtimeMs;
    } catch (err) {
      this.#log.warn({ err, path }, 'a database of RISK_MMDB cannot be read');
    }
  }
}
