// The fixtures of the tenant loop, one beside each module, with what they leave to the names of fields.
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Capability } from '../../src/kit/capability.ts';
import type { Input, Names, TenantFixture } from '../../src/kit/tenant-fixture.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { isOperators } from './capabilities.ts';

const MODULES = join(import.meta.dirname, '../../src/modules');

/** Whole: every capability that it can say something of. */
export type WholeFixture = Required<Pick<TenantFixture, 'aims' | 'lists'>> & TenantFixture;

/** Those of every module below `folder`; a module without one fails the loop, which looks for all capabilities. */
export async function tenantFixtures(manifest: Manifest, folder = MODULES): Promise<WholeFixture[]> {
  const files = globSync('**/tenants.fixture.ts', { cwd: folder }).sort();
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const { tenants } = (await import(pathToFileURL(path).href)) as { readonly tenants: TenantFixture };
      return wholeFixture(tenants, capabilitiesOf(manifest, basename(dirname(path))));
    }),
  );
}

function capabilitiesOf({ modules }: Manifest, name: string): readonly Capability[] {
  return modules.find((module) => module.name === name)?.capabilities ?? [];
}

/** What the fixture says, and what follows from the names of fields. */
export function wholeFixture(fixture: TenantFixture, capabilities: readonly Capability[]): WholeFixture {
  const aims = { ...fixture.aims };
  const lists = { ...fixture.lists };
  for (const capability of capabilities) {
    const { id } = capability;
    const aim = aimOf(capability, fixture.nobody);
    if (aims[id] === undefined && aim !== null) aims[id] = aim;
    const ask = askOf(capability, fixture.nobody);
    if (lists[id] === undefined && ask !== null) lists[id] = ask;
  }
  return { ...fixture, aims, lists };
}

/** Null: how it names things does not follow from its fields. */
function aimOf({ input, examples }: Capability, kinds: Names): readonly ((names: Names) => Input)[] | null {
  const { properties, required = [] } = input as { properties: Record<string, object>; required?: readonly string[] };
  const named = Object.keys(properties).filter((field) => Object.hasOwn(kinds, field));
  const example = examples[0]?.input ?? {};
  const others = required.filter((field) => !named.includes(field));
  if (named.length > 0 && others.every((field) => !JSON.stringify(example[field] ?? '$').includes('$'))) {
    const rest = Object.fromEntries(others.map((field) => [field, example[field]]));
    return [(names) => ({ ...rest, ...Object.fromEntries(named.map((field) => [field, names[field]])) })];
  }
  const takesText = Object.entries(properties).some(([field, schema]) => field !== 'cursor' && mayHoldText(schema));
  return takesText ? null : [];
}

/** A text that somebody chooses: words of a list, instants and numbers name nothing. */
function mayHoldText(schema: object): boolean {
  const { type, enum: words, format } = schema as { type?: string | string[]; enum?: unknown[]; format?: string };
  if (words !== undefined || format === 'date-time') return false;
  return ![type].flat().every((each) => ['boolean', 'integer', 'number', 'null'].includes(String(each)));
}

/** Null: it is no list, or what it asks for does not follow from its fields. */
function askOf(capability: Capability, kinds: Names): ((names: Names) => Input) | null {
  const { properties, required = [] } = capability.input as { properties: object; required?: readonly string[] };
  if (!('cursor' in properties) || isOperators(capability)) return null;
  if (!required.every((field) => Object.hasOwn(kinds, field))) return null;
  return (names) => Object.fromEntries(required.map((field) => [field, names[field]]));
}
