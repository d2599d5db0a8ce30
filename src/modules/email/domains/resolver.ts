// DNS look-ups for a domain by c-ares, at the name servers of the operator or of the machine. Everything is bounded: time, number of answers,
// their length.
import type { MxRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** What was found, at most RECORDS_MAX; empty: there is none. `unanswered`: nobody knows, for nobody answered. */
export type Found<Value> = readonly Value[] | 'unanswered';

export interface Ask {
  /** Each record with its chunks joined (RFC 7208 section 3.3). */
  txt(name: string): Promise<Found<string>>;
  /** In lower case; the best first. */
  mx(name: string): Promise<Found<MxRecord>>;
}

const TRY_MS = 1_500;
const TRIES = 2;
const ALL_MS = 8_000;
const RECORDS_MAX = 32;
const TEXT_CHARACTERS_MAX = 4_096;

/** These say that there is none; every other failure says nothing. */
const NONE = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Runs `work`, whose questions are all given up after 8 s.
 * @param servers `address:port` of name servers; null: those of the machine.
 */
export async function askNameServers<Result>(
  servers: readonly string[] | null,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== null) resolver.setServers(servers);
  const deadline = setTimeout(() => resolver.cancel(), ALL_MS);
  try {
    return await work({
      txt: (name) => readRecords(resolver.resolveTxt(name), (chunks) => chunks.join('').slice(0, TEXT_CHARACTERS_MAX)),
      async mx(name) {
        const hosts = await readRecords(resolver.resolveMx(name), inLowerCase);
        return hosts === 'unanswered' ? hosts : [...hosts].sort((a, b) => a.priority - b.priority);
      },
    });
  } finally {
    clearTimeout(deadline);
  }
}

async function readRecords<Sent, Value>(answer: Promise<Sent[]>, read: (record: Sent) => Value): Promise<Found<Value>> {
  try {
    return (await answer).slice(0, RECORDS_MAX).map(read);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return NONE.has(code) ? [] : 'unanswered';
  }
}

function inLowerCase({ exchange, priority }: MxRecord): MxRecord {
  return { exchange: exchange.toLowerCase(), priority };
}
