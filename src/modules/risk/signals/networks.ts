// Country and network of an IP address, from the operator's databases (RISK_MMDB, MaxMind format).
import { readFile } from 'node:fs/promises';
import type { AsnResponse, CountryResponse, Reader } from 'maxmind';
import type { Logger } from '../../../core/process/logger.ts';

type Record = Partial<CountryResponse & AsnResponse>;

/** Null: not known. */
export type Network = Readonly<ReturnType<Networks['of']>>;

export class Networks {
  readonly #paths: readonly string[];
  readonly #log: Logger;
  #readers: readonly Reader<Record>[] = [];

  constructor(paths: readonly string[], log: Logger) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Reads the databases. Throws when one of them cannot be read; those that were read before go on serving then. */
  async read(): Promise<void> {
    if (this.#paths.length === 0) return;
    const { Reader } = await import('maxmind');
    this.#readers = await Promise.all(this.#paths.map(async (path) => new Reader<Record>(await readFile(path))));
  }

  of(ip: string) {
    const found: Record = Object.assign({}, ...this.#readers.map((reader) => this.#recordOf(reader, ip)));
    return {
      country: found.country?.iso_code ?? found.registered_country?.iso_code ?? null,
      asn: found.autonomous_system_number ?? null,
      network: found.autonomous_system_organization ?? null,
    };
  }

  /** Nothing of a record that is damaged. */
  #recordOf(reader: Reader<Record>, ip: string): Record {
    try {
      return reader.get(ip) ?? {};
    } catch (err) {
      this.#log.warn({ err }, 'a record of a database of RISK_MMDB cannot be read');
      return {};
    }
  }
}
