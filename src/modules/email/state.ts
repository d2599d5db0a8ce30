// Per-process state of the email module.
import { AccountPlaces } from '../../core/account-places.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { Domains } from './domains/domains.ts';
import { SigningKeys } from './domains/signing-key.ts';
import { localDelivery } from './inboxes/local.ts';
import { queueMessages } from './inboxes/queue-messages.ts';
import { LONG_MAILS_AT_ONCE } from './limits.ts';
import { type ReceivingState, startReceiving } from './receiving/receiving.ts';
import { applyReport } from './sending/apply-report.ts';
import type { SendingHost } from './sending/attempt.ts';
import { BeginEffect } from './sending/begin.ts';
import { readBounceAddress } from './sending/bounce-token.ts';
import { Composer } from './sending/composer.ts';
import { Marks } from './sending/marks.ts';
import { Outcomes } from './sending/outcomes.ts';
import { paceOf } from './sending/pace.ts';
import { Relays } from './sending/relays.ts';
import { sendingLoop } from './sending/sender.ts';
import type { EmailSettings } from './settings.ts';
import { MailLinks } from './tracking/links.ts';
import { Seen } from './tracking/seen.ts';

export interface EmailState extends SendingHost, ReceivingState {
  readonly begin: BeginEffect;
  readonly seen: Seen;
  readonly domains: Domains;
}

export interface StartedEmail extends EmailState {
  readonly loops: readonly JobLoop[];
}

export function startEmail(core: Services, sent: Omit<EmailSettings, 'dnsServers'>): StartedEmail {
  const settings = { ...sent, dnsServers: core.nameServers?.map(({ text }) => text) ?? null };
  if (settings.bounceDomain !== null) core.ownNames.add(settings.bounceDomain);
  const keys = new SigningKeys(core);
  const receiving = startReceiving(core, settings, {
    isOurs: (address) => readBounceAddress(core.secrets, address) !== null,
    apply: (address, report) => applyReport(state, address, report),
  });
  const state: EmailState = {
    core,
    settings,
    keys,
    domains: new Domains(core, keys, settings),
    composer: new Composer(),
    relays: new Relays(core),
    marks: new Marks(core.db),
    outcomes: new Outcomes(core.db),
    links: new MailLinks(core),
    longMails: new AccountPlaces(LONG_MAILS_AT_ONCE, { alone: 'all' }),
    pace: paceOf(settings.perSecond),
    begin: new BeginEffect(),
    seen: new Seen(),
    receiving,
    local: localDelivery(receiving),
  };
  return { ...state, loops: [sendingLoop(state), state.domains.checks(), queueMessages(core)] };
}
