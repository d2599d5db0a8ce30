// The services of the core for a command that asks modules: nothing runs in the background, nothing is registered.
import { randomUUID } from 'node:crypto';
import type { Core } from '../core/context.ts';
import { KeyRing } from '../core/keys/ring.ts';
import { scopeBookOf } from '../core/keys/scopes.ts';
import { createLog } from '../core/process/log.ts';
import { ProcessRegistry } from '../core/process/processes.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import { UsageMeter } from '../core/usage/meter.ts';
import { Holds } from '../core/wallet/holds/holds.ts';
import { Lanes } from '../core/wallet/lane/lanes.ts';
import { defaultPriceBook } from '../core/wallet/prices.ts';
import { createOutboundClient } from '../vendors/http/client.ts';
import type { Session } from './session.ts';

export function commandCore({ config, connection, db }: Session, secrets: Secrets): Core {
  const log = createLog('silent');
  const lanes = new Lanes({ db, log });
  const processId = `cli-${randomUUID()}`;
  return {
    db,
    connection,
    secrets,
    lanes,
    holds: new Holds({ db, lanes, log, owner: processId }),
    keys: new KeyRing({ db, secrets }),
    scopeBook: scopeBookOf([], []),
    usage: new UsageMeter(db),
    prices: defaultPriceBook,
    processes: new ProcessRegistry(db, processId, 'cli'),
    outbound: createOutboundClient({ allowPrivateTargets: config.allowPrivateTargets }),
    log,
    baseUrl: config.baseUrl,
    region: config.region,
    vectorEngine: config.vectorEngine,
    vectorMemoryMb: config.vectorMemoryMb,
  };
}
