// Time and memory limits of one attempt (contract of webhooks). Tests replace the times to stay quick.

export interface OutboundLimits {
  /** From the look-up's end to a socket that can be written to, TLS included, over all addresses tried. */
  readonly connectMs: number;
  /** The whole attempt, look-up, connect, request and answer, unless its target has a time of its own. */
  readonly totalMs: number;
  /** How long the check of a URL waits for the name service. */
  readonly resolveMs: number;
  /** More of an answer's body is not read: the socket is destroyed. */
  readonly answerBytesMax: number;
  readonly snippetBytesMax: number;
  readonly answerHeaderBytesMax: number;
  /** Answers of status 1xx before the final one. */
  readonly interimAnswersMax: number;
  /** An idle socket lives this long; a receiver's shorter `Keep-Alive: timeout` wins. */
  readonly idleMs: number;
  /** Pools with no request in flight beyond this number are closed, the least recently used first. */
  readonly idlePoolsMax: number;
  /** Of a name with many addresses, this many are tried when connecting fails. */
  readonly addressesTriedMax: number;
}

export const outboundLimits: OutboundLimits = {
  connectMs: 5_000,
  totalMs: 15_000,
  resolveMs: 2_000,
  answerBytesMax: 64 * 1024,
  snippetBytesMax: 1024,
  answerHeaderBytesMax: 16 * 1024,
  interimAnswersMax: 16,
  idleMs: 4_000,
  idlePoolsMax: 256,
  addressesTriedMax: 3,
};

export const urlCharactersMax = 2048;
/** Of what vendors answer: addresses that are signed are long. */
export const answeredUrlCharactersMax = 8192;

/**
 * Ports of services that take text commands or that nobody should reach through us: a POST to them could be more than a POST.
 * The "bad ports" of the WHATWG Fetch standard that are in use, and the usual databases, caches, brokers and control planes.
 */
export const refusedPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375,
  2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5433, 5672, 5900, 5984, 5985, 5986, 6000, 6379,
  6380, 6432, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 8086, 9042, 9092, 9200, 9300, 10080, 10250, 11211, 27017,
  27018, 27019,
]);
