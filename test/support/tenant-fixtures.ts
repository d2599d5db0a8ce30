// The fixtures of the tenant loop, one beside each module.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TenantFixture } from '../../src/kit/tenant-fixture.ts';

const MODULES = join(import.meta.dirname, '../../src/modules');

/** Those of every module below `folder`; a module without one fails the loop, which looks for all capabilities. */
export async function tenantFixtures(folder = MODULES): Promise<TenantFixture[]> {
  const files = globSync('**/tenants.fixture.ts', { cwd: folder }).sort();
  const loaded = files.map((file) => import(pathToFileURL(join(folder, file)).href));
  return (await Promise.all(loaded)).map(({ tenants }: { readonly tenants: TenantFixture }) => tenants);
}
