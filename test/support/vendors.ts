// Vendors for harnesses that make their own core.
import { VendorHealth } from '../../src/routing/health.ts';
import { VendorLimitsHere } from '../../src/routing/limits.ts';
import { Routing } from '../../src/routing/routing.ts';
import { Vendors } from '../../src/routing/vendors.ts';
import { sandbox } from '../../src/vendors/file/row.ts';

/** Health that is not started asks for nothing. */
const unused = new Proxy({} as never, {
  get: () => {
    throw new Error('without vendors outside there is nothing to read or to tell');
  },
});

/** What a service without a file of vendors has. */
export function sandboxOnly(): Vendors {
  const [vendor, rows] = sandbox([], 'western', true);
  const file = { vendors: [vendor], rows, warnings: [], digest: '' };
  return new Vendors({
    file,
    families: [],
    adapters: {},
    region: 'western',
    health: new VendorHealth({ db: unused, log: unused }),
    limits: new VendorLimitsHere(),
    routing: new Routing(unused),
    readKey: () => null,
  });
}
