// The manifest: every capability of this deployment, checked once at start. All surfaces are derived from it.
import { createHash } from 'node:crypto';
import { defaultPriceBook, type PriceBook } from '../core/prices.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Capability } from './capability.ts';
import { checkManifest } from './check.ts';
import { describeCapability } from './describe.ts';
import type { Module } from './module.ts';
import { apiVersion, specVersion } from './version.ts';

export interface Manifest {
  readonly modules: readonly Module[];
  /** In the order of the modules and, within each, of its list. */
  readonly capabilities: readonly Capability[];
  readonly byId: ReadonlyMap<string, Capability>;
  readonly prices: PriceBook;
  /** Hex digest of the canonical description; equal on two processes exactly when they offer the same. */
  readonly sha256: string;
}

/** `thorough` also compiles every schema and tries every example: 0.2 s and 20 MB, which a start of what is released spares. */
export type Thoroughness = 'thorough' | 'quick';

/**
 * Collects the capabilities of `modules` under the prices of this deployment.
 * Throws one Error that lists every broken rule of `checkManifest`.
 */
export function buildManifest(
  modules: readonly Module[],
  prices: PriceBook = defaultPriceBook,
  thoroughness: Thoroughness = 'thorough',
): Manifest {
  const faults = checkManifest(modules, prices, thoroughness);
  if (faults.length > 0) throw new Error(`The manifest breaks its rules:\n- ${faults.join('\n- ')}`);
  const capabilities: Capability[] = modules.flatMap((module) => [...module.capabilities]);
  return {
    modules,
    capabilities,
    byId: new Map(capabilities.map((capability) => [capability.id, capability])),
    prices,
    sha256: digest(capabilities, prices),
  };
}

function digest(capabilities: readonly Capability[], prices: PriceBook): string {
  const described = capabilities.map((capability) => describeCapability(capability, prices));
  described.sort((left, right) => (left.id < right.id ? -1 : 1));
  const offer = { apiVersion, specVersion, prices: prices.version, capabilities: described };
  return createHash('sha256')
    .update(canonicalJson(JSON.stringify(offer)))
    .digest('hex');
}
