// Inputs of a reading of the vendors file, and the collector of its errors.
import type { FileFault, Path, YamlDocument } from '../../lib/yaml.ts';
import type { Adapter, ModelFamily, VendorRegion } from './port.ts';

export interface Reading {
  /** Of this deployment; what stands for `local`. */
  readonly region: VendorRegion;
  readonly families: readonly ModelFamily[];
  /** By the name of the family that they work for. */
  readonly adapters: Readonly<Record<string, readonly Adapter[]>>;
  /** Milliseconds since 1970: models whose time is over are not offered. */
  readonly nowMs: number;
  environment(name: string): string | undefined;
  /** The text of a file that holds a key; null when there is none. */
  keyFile(path: string): string | null;
}

/** Collects what is wrong. */
export class Faults {
  readonly found: FileFault[] = [];
  readonly #document: YamlDocument;

  constructor(document: YamlDocument) {
    this.#document = document;
  }

  add(path: Path, message: string): void {
    this.found.push(this.#document.fault(path, message));
  }
}
