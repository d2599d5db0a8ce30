// Reads the current records and name servers of a zone: from the database where this service answers for it, from its vendor otherwise.
import type { CallContext } from '../../../kit/services.ts';
import type { DnsState } from '../state.ts';
import { EMBEDDED } from '../vendors/hosts.ts';
import type { HostedZone } from '../vendors/port.ts';
import type { ShownZone } from '../zones/store.ts';
import { zoneGone } from './edit.ts';
import type { RecordSet } from './sets.ts';
import { readSets } from './store.ts';

/** All of them, by name and type. Throws what vendors fail with. */
export async function readZone(
  { core, accountId }: Pick<CallContext, 'core' | 'accountId'>,
  state: Pick<DnsState, 'hosts' | 'names'>,
  { zone, vendor }: ShownZone,
): Promise<{ readonly sets: readonly RecordSet[]; readonly nameServers: readonly string[] }> {
  if (vendor === EMBEDDED) return { sets: await readSets(core.db, { accountId, zone }), nameServers: state.names };
  return hostedZone(state, accountId, { zone, vendor });
}

/** A zone as its vendor has it. Throws what vendors fail with. */
export function hostedZone(
  { hosts }: Pick<DnsState, 'hosts'>,
  accountId: string,
  { zone, vendor }: Pick<ShownZone, 'zone' | 'vendor'>,
): Promise<HostedZone> {
  return hosts.run(vendor, { accountId, zone }, async (host, signal) => {
    const found = await host.read(zone, signal);
    if (found === null) throw zoneGone(zone);
    return found;
  });
}
