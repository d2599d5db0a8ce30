// What belongs to account A does not exist for account B: every id of A gets from B exactly the answer of a random id.

import { manifest } from '../support/capabilities.ts';
import { startTestService } from '../support/service.ts';
import { tenantFixtures } from '../support/tenant-fixtures.ts';
import { tenantLoop } from './tenant-loop.ts';

// own service: lists of everything hold the two accounts of the loop alone
tenantLoop(manifest, await tenantFixtures(manifest), () => startTestService());
