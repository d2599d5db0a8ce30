// In-process state of the sms module: its carriers, and the job loop of its messages.
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import { openCarriers } from './carriers/open.ts';
import type { CarrierListener } from './carriers/port.ts';
import type { HandOverHost } from './messages/hand-over.ts';
import { carrierListener } from './messages/receipts.ts';
import { messageLoop } from './messages/steps.ts';
import { type Marking, markSending } from './messages/store.ts';
import { requireCountries, type SmsSettings } from './settings.ts';

export interface SmsState extends HandOverHost {
  readonly settings: SmsSettings;
  readonly listener: CarrierListener;
  readonly loop: JobLoop;
  /** Verifications that are being started under a key, by account and key. */
  readonly starting: Map<string, Promise<unknown>>;
  /** Ends what waits for carriers. */
  readonly stopping: AbortController;
}

const MARKS_MAX = 100;

export async function startSms(core: Services, settings: SmsSettings): Promise<SmsState> {
  await requireCountries(settings);
  const listener = carrierListener(core);
  const marks = new Coalescer<Marking, boolean>({
    batchMax: MARKS_MAX,
    async run(accountId, markings) {
      const ours = await markSending(core.db.hot, accountId, markings);
      return markings.map(({ smsId }) => ours.has(smsId));
    },
  });
  const host = { core, carriers: openCarriers(core, listener), marks };
  return { ...host, settings, listener, loop: messageLoop(host), starting: new Map(), stopping: new AbortController() };
}

export async function closeSms({ carriers, stopping }: SmsState): Promise<void> {
  stopping.abort();
  await Promise.all([...carriers.values()].map((carrier) => carrier.close?.()));
}
