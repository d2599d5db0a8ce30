// DNS checks of domains: on request by a call, and on a schedule (judge.ts). Nothing is changed while name servers are asked.
import type { LeasedJob } from '../../../core/background/due-work.ts';
import { dueWork } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Services } from '../../../kit/services.ts';
import type { EmailSettings } from '../settings.ts';
import { judgeDomain } from './judge.ts';
import { isReserved } from './may-send.ts';
import { registeredDomain } from './name.ts';
import { type Look, lookUp } from './records.ts';
import { type Ask, askNameServers } from './resolver.ts';
import type { SigningKeys } from './signing-key.ts';
import { type DomainRow, domainDue, domainTable, saveDomain, updateDomain } from './store.ts';

export const DOMAINS_WORK = 'email.domains';
const LOOKS_AT_ONCE = 4;

/** Of names that exist nowhere nothing is asked of the world's name servers. */
const NOBODY: Ask = { txt: async () => [], mx: async () => [] };

type Parts = Pick<Services, 'db' | 'log' | 'baseUrl'>;

export class Domains {
  readonly #core: Parts;
  readonly #keys: SigningKeys;
  readonly #settings: Pick<EmailSettings, 'bounceDomain' | 'dnsServers'>;

  constructor(core: Parts, keys: SigningKeys, settings: Pick<EmailSettings, 'bounceDomain' | 'dnsServers'>) {
    this.#core = core;
    this.#keys = keys;
    this.#settings = settings;
  }

  /** What name servers say now; at most 8 s. */
  async look(accountId: string, domain: string): Promise<Look> {
    const { bounceDomain, dnsServers } = this.#settings;
    const [key, registered] = await Promise.all([this.#keys.of(accountId), registeredDomain(domain)]);
    const host = new URL(this.#core.baseUrl).hostname;
    const wanted = { domain, registered, key, bounceDomain, host };
    if (dnsServers === null && isReserved(domain)) return lookUp(NOBODY, wanted);
    return askNameServers(dnsServers, (ask) => lookUp(ask, wanted));
  }

  /** Keeps what a call's look found: a new domain, or one that had failed, begins its three days. Answers the row. */
  async keep(tx: Transaction, accountId: string, domain: string, { records }: Look, nowMs: number): Promise<DomainRow> {
    const before = await domainTable.find(tx, { accountId }, domain);
    const judged = judgeDomain(before?.status === 'failed' ? null : before, records, nowMs);
    await saveDomain(tx, accountId, domain, { ...judged, records, nowMs });
    await openTurn(tx, accountId, DOMAINS_WORK, judged.dueMs, { later: true });
    return (await domainTable.find(tx, { accountId }, domain)) as DomainRow;
  }

  /** The loop of one process that looks at what is due. */
  checks(): JobLoop {
    return dueWork<LeasedJob>(this.#core, {
      name: DOMAINS_WORK,
      places: LOOKS_AT_ONCE,
      claim: domainDue.claim,
      run: (job) => this.#check(job),
      putBack: domainDue.setDue,
    });
  }

  async #check(job: LeasedJob): Promise<void> {
    const { db } = this.#core;
    const before = await domainTable.find(db, job, job.id);
    if (before === null) return;
    const { records } = await this.look(job.accountId, job.id);
    const nowMs = await clockNow(db);
    await updateDomain(db, job, { ...judgeDomain(before, records, nowMs), records, nowMs });
  }
}
