// The manifest: every capability of this deployment, checked once at start. All surfaces are derived from it.
import { createHash } from 'node:crypto';
import type { Capability } from '../kit/capability.ts';
import { type Deployment, plainDeployment } from '../kit/deployment.ts';
import type { Module } from '../kit/module.ts';
import type { Offer } from '../kit/offer.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';
import { describeCapability } from './describe.ts';
import { apiVersion, specVersion } from './version.ts';

export interface Manifest extends Offer {
  readonly modules: readonly Module[];
  /** In the order of the modules and, within each, of its list. */
  readonly capabilities: readonly Capability[];
  readonly byId: ReadonlyMap<string, Capability>;
  /** Hex digest of the canonical description; equal on two processes exactly when they offer the same. */
  readonly sha256: string;
}

/** `thorough` also compiles every schema and tries every example: 0.2 s and 20 MB, which a start of what is released spares. */
export type Thoroughness = 'thorough' | 'quick';

export interface ManifestOptions {
  readonly deployment?: Deployment;
  readonly thoroughness?: Thoroughness;
}

/** Collects what `modules` bring, for this deployment. Throws one Error that lists every broken rule of `checkManifest`. */
export function buildManifest(
  defined: readonly Module[],
  { deployment = plainDeployment, thoroughness = 'thorough' }: ManifestOptions = {},
): Manifest {
  const offer = composeOffer(defined, deployment);
  const modules = defined.map((module) => withDerived(module, offer));
  const faults = checkManifest(modules, offer, thoroughness);
  if (faults.length > 0) throw new Error(`The manifest breaks its rules:\n- ${faults.join('\n- ')}`);
  const capabilities: Capability[] = modules.flatMap((module) => [...module.capabilities]);
  let sha256: string | undefined;
  return {
    ...offer,
    modules,
    capabilities,
    byId: new Map(capabilities.map((capability) => [capability.id, capability])),
    // Documents tell it; a start does not wait for it.
    get sha256() {
      sha256 ??= digest(capabilities, offer);
      return sha256;
    },
  };
}

function withDerived(module: Module, offer: Offer): Module {
  return { ...module, capabilities: [...module.capabilities, ...(module.derived?.(offer) ?? [])] };
}

function digest(capabilities: readonly Capability[], offer: Offer): string {
  const described = capabilities.map((capability) => describeCapability(capability, offer));
  described.sort((left, right) => (left.id < right.id ? -1 : 1));
  const { events, prices } = offer;
  const text = JSON.stringify({ apiVersion, specVersion, prices: prices.version, capabilities: described, events });
  return createHash('sha256').update(canonicalJson(text)).digest('hex');
}
