// The carriers of this process, by entry id. A new wire needs a line here, and its fields in family.ts.
import type { Services } from '../../../kit/services.ts';
import { type ModelRow, SANDBOX } from '../../../vendors/file/port.ts';
import { SEND } from './family.ts';
import type { Carrier, CarrierListener } from './port.ts';
import { sandboxCarrier } from './sandbox.ts';
import { SmppCarrier } from './smpp/carrier.ts';
import { TwilioCarrier } from './twilio.ts';

export function openCarriers(core: Services, listener: CarrierListener): ReadonlyMap<string, Carrier> {
  const rows = core.vendors.rowsFor(SEND).filter(({ vendor }) => vendor.disabled === null);
  return new Map(rows.map((row) => [row.vendor.id, open(core, row, listener)]));
}

function open(core: Services, row: ModelRow, listener: CarrierListener): Carrier {
  if (row.vendor.id === SANDBOX) return sandboxCarrier;
  return row.vendor.adapter === 'twilio' ? new TwilioCarrier(core, row) : new SmppCarrier(core, row, listener);
}
