// Vendors for harnesses that make their own core.
import type { Logger } from '../../src/core/process/logger.ts';
import { VendorHealth } from '../../src/core/vendors/health.ts';
import { Vendors } from '../../src/core/vendors/vendors.ts';
import type { Database } from '../../src/db/database.ts';
import { sandbox } from '../../src/vendors/file/row.ts';

/** What a service without a file of vendors has. */
export function sandboxOnly(of: { readonly db: Database; readonly log: Logger }): Vendors {
  const [vendor, rows] = sandbox([], 'western', true);
  const file = { vendors: [vendor], rows, warnings: [], digest: '' };
  return new Vendors({
    file,
    families: [],
    adapters: {},
    region: 'western',
    health: new VendorHealth(of),
    readKey: () => null,
  });
}
