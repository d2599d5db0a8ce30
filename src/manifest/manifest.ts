// The manifest: every capability of this deployment, checked once at start. All surfaces are derived from it.
import { createHash } from 'node:crypto';
import { defaultPriceBook, type PriceBook } from '../core/wallet/prices.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Capability } from './capability.ts';
import { checkManifest } from './check.ts';
import { type Deployment, plainDeployment } from './deployment.ts';
import { describeCapability } from './describe.ts';
import { type DescribedEvent, describedEvents } from './events.ts';
import type { Module } from './module.ts';
import { apiVersion, specVersion } from './version.ts';

export interface Manifest {
  readonly modules: readonly Module[];
  /** In the order of the modules and, within each, of its list. */
  readonly capabilities: readonly Capability[];
  readonly byId: ReadonlyMap<string, Capability>;
  /** What webhooks may subscribe to, in the order of the catalogue. */
  readonly events: readonly DescribedEvent[];
  readonly prices: PriceBook;
  readonly deployment: Deployment;
  /** Hex digest of the canonical description; equal on two processes exactly when they offer the same. */
  readonly sha256: string;
}

/** `thorough` also compiles every schema and tries every example: 0.2 s and 20 MB, which a start of what is released spares. */
export type Thoroughness = 'thorough' | 'quick';

export interface ManifestOptions {
  readonly prices?: PriceBook;
  readonly deployment?: Deployment;
  readonly thoroughness?: Thoroughness;
}

/**
 * Collects the capabilities of `modules` under the prices and the settings of this deployment.
 * Throws one Error that lists every broken rule of `checkManifest`.
 */
export function buildManifest(
  modules: readonly Module[],
  { prices = defaultPriceBook, deployment = plainDeployment, thoroughness = 'thorough' }: ManifestOptions = {},
): Manifest {
  const faults = checkManifest(modules, prices, thoroughness);
  if (faults.length > 0) throw new Error(`The manifest breaks its rules:\n- ${faults.join('\n- ')}`);
  const capabilities: Capability[] = modules.flatMap((module) => [...module.capabilities]);
  const offer = { capabilities, events: describedEvents(modules), prices, deployment };
  return {
    ...offer,
    modules,
    byId: new Map(capabilities.map((capability) => [capability.id, capability])),
    sha256: digest(offer),
  };
}

function digest(offer: Pick<Manifest, 'capabilities' | 'events' | 'prices' | 'deployment'>): string {
  const capabilities = offer.capabilities.map((capability) => describeCapability(capability, offer));
  capabilities.sort((left, right) => (left.id < right.id ? -1 : 1));
  const { events, prices } = offer;
  const text = JSON.stringify({ apiVersion, specVersion, prices: prices.version, capabilities, events });
  return createHash('sha256').update(canonicalJson(text)).digest('hex');
}
