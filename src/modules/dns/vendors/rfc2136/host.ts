// Zones of a primary name server that takes updates (RFC 2136) and transfers (RFC 5936), both signed by TSIG: BIND, Knot and others. A zone is
// read by a transfer. An update is one message, applied whole or not at all, where it fits into 64 KiB.
import type { ModelRow } from '../../../../vendors/file/port.ts';
import { RECORDS_MAX } from '../../limits.ts';
import { readName } from '../../records/names.ts';
import { type HostedZone, type SetChange, VendorFault, type ZoneHost } from '../port.ts';
import { exchange, type NameServerAt, Refusal } from './exchange.ts';
import { TransferredZone } from './records.ts';
import type { TsigAlgorithm } from './tsig.ts';
import { transferQuery, updatesOf } from './update.ts';

/** Those of other types among them. */
const SEEN_MAX = 3 * RECORDS_MAX;
/** Said of a zone that the server does not have, or does not give away. */
const NOT_HELD = new Set(['NOTAUTH', 'REFUSED', 'NXDOMAIN', 'NOTZONE']);
/** A prerequisite does not hold any more. */
const CHANGED = new Set(['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NXDOMAIN']);

export class Rfc2136Host implements ZoneHost {
  readonly #at: NameServerAt;

  constructor({ options, vendor }: ModelRow) {
    const [, bracketed, plain, port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(String(options.server)) ?? [];
    this.#at = {
      host: bracketed ?? plain ?? '',
      port: Number(port),
      key: {
        name: readName(String(options.key_name)) ?? '',
        secret: Buffer.from(vendor.secrets?.key_secret?.reveal().trim() ?? '', 'base64'),
        algorithm: (options.algorithm as TsigAlgorithm | undefined) ?? 'hmac-sha256',
      },
    };
  }

  async read(zone: string, signal: AbortSignal): Promise<HostedZone | null> {
    const found = new TransferredZone(zone);
    try {
      await exchange(
        this.#at,
        (id) => transferQuery(id, zone),
        async ({ bytes, answers }) => {
          await found.take(bytes, answers);
          if (found.seen > SEEN_MAX)
            throw new VendorFault('VENDOR_ERROR', `The zone has more than ${SEEN_MAX} records.`);
          return found.isWhole;
        },
        signal,
      );
    } catch (error) {
      if (error instanceof Refusal && NOT_HELD.has(error.rcode)) return null;
      throw faultOf(error);
    }
    const { sets, nameServers, types } = found;
    return {
      zone,
      sets,
      nameServers,
      ttlOf: (seconds) => seconds,
      change: (changes, until) => this.#change(zone, changes, types, until),
    };
  }

  async #change(
    zone: string,
    changes: readonly SetChange[],
    types: ReadonlyMap<string, ReadonlySet<string>>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const message of updatesOf(zone, changes, types)) {
      try {
        await exchange(this.#at, message, () => Promise.resolve(true), signal);
      } catch (error) {
        throw faultOf(error);
      }
    }
  }
}

function faultOf(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const { rcode } = error;
  if (CHANGED.has(rcode)) {
    const message = 'Somebody else changes the same names: send the call again.';
    return new VendorFault('VENDOR_DOWN', message, { isRace: true });
  }
  if (rcode === 'REFUSED') {
    const why =
      'its key may not change the zone, or the change breaks a rule of the server, such as an MX whose host has no address.';
    return new VendorFault('VENDOR_ERROR', `The name server refuses it: ${why}`);
  }
  if (rcode === 'NOTAUTH')
    return new VendorFault('VENDOR_AUTH_ERROR', 'The name server is not the primary of the zone.');
  return new VendorFault(rcode === 'SERVFAIL' ? 'VENDOR_DOWN' : 'VENDOR_ERROR', `The name server answers ${rcode}.`);
}
