// The answers of GET /v1/discovery: everything on offer, or the capabilities that match a query.
import { moduleOf } from '../../core/callers/scopes.ts';
import type { Capability } from '../../kit/capability.ts';
import { nearest } from '../../lib/nearest.ts';
import { summarizeCapability } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { notBuiltText, plannedModules } from '../../manifest/planned/modules.ts';
import { type StreamDescription, streamsOf } from '../../manifest/streams.ts';
import { apiVersion, moduleTags, serviceName, specVersion } from '../../manifest/version.ts';
import { invalidField, type Problem } from '../../problems/problem.ts';
import type { ListedVendor, Vendors } from '../../routing/vendors.ts';
import { briefOf, findCapabilities, findPlanned, isStream } from './search.ts';

/** What a call asks for; nothing of it: everything. */
export interface Question {
  readonly q?: string | undefined;
  readonly module?: string | undefined;
  readonly billable?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly view?: 'brief' | undefined;
}

/** Of what is found by words the best are wanted, not all. */
const FOUND_LIMIT = 20;

export function isQuestion(input: Question): boolean {
  return Object.values(input).some((value) => value !== undefined);
}

/** Everything. `isShown`: whether a module is. */
export function wholeListing(manifest: Manifest, vendors: Vendors, isShown: (module: string) => boolean): object {
  return {
    ...headOf(manifest),
    modules: moduleStatuses(manifest).filter(({ module }) => isShown(module)),
    capabilities: manifest.capabilities
      .filter(({ id }) => isShown(moduleOf(id)))
      .map((capability) => rowOf(capability, manifest, vendors)),
    events: manifest.events.map(({ type, module, status, summary }) => ({ type, module, status, summary })),
    streams: streamsOf(manifest.modules).filter(({ module }) => isShown(module)),
  };
}

/** Capabilities only. Throws VALIDATION_FAILED for a module that there is not. */
export async function narrowedListing(
  manifest: Manifest,
  vendors: Vendors,
  isShown: (module: string) => boolean,
  { q = '', module, billable, limit = q.trim() === '' ? Infinity : FOUND_LIMIT, view }: Question,
): Promise<object> {
  const names = manifest.modules.map(({ name }) => name).filter(isShown);
  if (module !== undefined && !names.includes(module)) throw unknownModule(manifest, names, module);
  const found = await findCapabilities(
    manifest,
    q,
    (each) =>
      isShown(moduleOf(each.id)) &&
      (module === undefined || moduleOf(each.id) === module) &&
      (billable === undefined || (!isStream(each) && each.price !== 'free') === billable),
  );
  const capabilities = found.slice(0, limit).map((each) => {
    if (view === 'brief') return briefOf(each, manifest);
    return isStream(each) ? streamRow(each) : rowOf(each, manifest, vendors);
  });
  const planned = module === undefined ? await plannedFor(manifest, q) : [];
  return {
    ...headOf(manifest),
    ...(planned.length > 0 ? { planned } : {}),
    ...(found.length === 0 ? { message: nothingFits(names) } : {}),
    total: found.length,
    capabilities,
  };
}

/** For whoever asked for something that no capability does. */
export function nothingFits(modules: readonly string[]): string {
  return `No capability fits. The modules are ${modules.join(', ')}. Try other words, or read /llms.txt.`;
}

/** What a query asks for that is not built, with a sentence for whoever asked. */
export async function plannedFor(manifest: Manifest, query: string): Promise<{ module: string; message: string }[]> {
  return (await findPlanned(manifest, query)).map((module) => ({ module, message: notBuiltText(module) }));
}

/** Modules of the specification in its order, then those that are ours; a tag without a built module is planned. */
export function moduleStatuses(manifest: Manifest): { module: string; status: string }[] {
  const built = new Map(manifest.modules.map((module) => [module.name, module.status]));
  const names = [...new Set([...moduleTags, ...built.keys()])];
  return names.map((module) => ({ module, status: built.get(module) ?? 'planned' }));
}

/** The names of the vendors that are up. */
export function liveOf(vendors: readonly ListedVendor[]): string[] {
  return vendors.filter(({ isUp }) => isUp).map(({ vendor }) => vendor);
}

function headOf(manifest: Manifest): object {
  return {
    service: serviceName,
    api_version: apiVersion,
    spec_version: specVersion,
    manifest_sha256: manifest.sha256,
    regions: [manifest.deployment.region],
  };
}

function rowOf(capability: Capability, manifest: Manifest, vendors: Vendors): object {
  const summary = summarizeCapability(capability, manifest);
  const outside = vendors.servedBy(capability.id);
  return outside === null ? summary : { ...summary, vendors_live: liveOf(outside) };
}

/** A stream in the form of a capability. */
export function streamRow({
  id,
  module,
  method,
  path,
  summary,
  scope,
}: Omit<StreamDescription, 'event' | 'query_schema'>) {
  return {
    id,
    module,
    method,
    path,
    summary,
    status: 'ga',
    billable: false,
    pricing: { unit: 'call', price_usd: 0 },
    idempotent: false,
    scope,
    regions: [],
    vendors_live: [],
    stream: true,
  };
}

/** `names`: the modules that may be named. */
export function unknownModule({ modules }: Manifest, names: readonly string[], sent: string): Problem {
  const shown = JSON.stringify(sent.slice(0, 64));
  const near = nearest(sent, names, 1);
  const hint = near.length === 0 ? '' : ` Did you mean ${near[0]}?`;
  const isPlanned = plannedModules(modules).has(sent);
  const what = isPlanned ? notBuiltText(shown) : `There is no module ${shown}.`;
  return invalidField('module', 'enum', `${what}${hint} There are ${names.join(', ')}.`);
}
