// Splits the bounds of admission.ts among the processes behind one port (WORKERS), and gives the reasons for those that are not split.
import type { Admission } from './admission.ts';

const MIB = 1024 * 1024;
/** As many connections as commits, look-ups and long writes of one process need beside one another. */
const DATABASE_CONNECTIONS_MIN = 4;
/** Other accounts proceed while one waits for its node. */
const DISTRIBUTED_COMMITS_MIN = 2;
/** Threads and processes of a pool: of one, a single account would have all. */
const POOL_MIN = 2;
/** Twice the longest body and the longest answer there are: an owner may have half of what is free. */
const LONG_BYTES_MIN = 72 * MIB;

/**
 * What one of `processes` may take. Connections are spread over them, so what connections bring is split evenly. Of what is few, each
 * has at least one; of bytes, at least what the longest call needs.
 */
export function shareOf(whole: Admission, processes: number): Admission {
  const { all } = whole;
  const share = (of: number) => Math.ceil(of / processes);
  const bytes = (of: number) => Math.max(share(of), Math.min(of, LONG_BYTES_MIN));
  return {
    ...whole,
    processes,
    all: {
      ...all,
      connectionsMax: share(all.connectionsMax),
      spareConnections: share(all.spareConnections),
      pipelinedMax: share(all.pipelinedMax),
      places: share(all.places),
      streams: share(all.streams),
      webSockets: share(all.webSockets),
      unidentifiedWebSockets: share(all.unidentifiedWebSockets),
      webSocketBytesMax: share(all.webSocketBytesMax),
      liveStreams: share(all.liveStreams),
      loggedCalls: share(all.loggedCalls),
      receivedWebhooks: share(all.receivedWebhooks),
      receivedWebhookBytes: share(all.receivedWebhookBytes),
      shortCallsWaiting: share(all.shortCallsWaiting),
      bodyBytesMax: bytes(all.bodyBytesMax),
      answerMakingBytesMax: bytes(all.answerMakingBytesMax),
      claimsAtOnce: share(all.claimsAtOnce),
      longAnswersAtOnce: share(all.longAnswersAtOnce),
      refusalsPerSecond: share(all.refusalsPerSecond),
      databaseConnections: Math.max(share(all.databaseConnections), DATABASE_CONNECTIONS_MIN),
      commitsAtOnce: share(all.commitsAtOnce),
      distributedCommits: Math.max(share(all.distributedCommits), DISTRIBUTED_COMMITS_MIN),
      laneItemsMax: share(all.laneItemsMax),
      laneBytesMax: share(all.laneBytesMax),
      lockedAccountsMax: share(all.lockedAccountsMax),
      lockedAccountsAtOnce: share(all.lockedAccountsAtOnce),
      largeWritesAtOnce: share(all.largeWritesAtOnce),
      bodyThreads: Math.max(share(all.bodyThreads), POOL_MIN),
      blockThreads: Math.max(share(all.blockThreads), POOL_MIN),
      inflationsAtOnce: share(all.inflationsAtOnce),
    },
    account: {
      ...whole.account,
      refusalsPerSecond: share(whole.account.refusalsPerSecond),
      liveStreams: share(whole.account.liveStreams),
      loggedCalls: share(whole.account.loggedCalls),
      receivedWebhooks: share(whole.account.receivedWebhooks),
      receivedWebhookBytes: share(whole.account.receivedWebhookBytes),
      shortCallsPerSecond: share(whole.account.shortCallsPerSecond),
      shortCallsWaiting: share(whole.account.shortCallsWaiting),
      webSocketMessagesPerSecond: share(whole.account.webSocketMessagesPerSecond),
    },
    proxy: {
      ...whole.proxy,
      unidentifiedMax: share(whole.proxy.unidentifiedMax),
      socketsMax: share(whole.proxy.socketsMax),
      handshakesMax: share(whole.proxy.handshakesMax),
      tunnelsMax: share(whole.proxy.tunnelsMax),
    },
  };
}

const A_TIME = 'a time, not an amount';
const MEMORY_OF_ALL = 'every process meets every key, account and address';
const ONE_PROCESS = 'background work runs in one process';
const COUNTED_FOR_ALL = 'the first process counts for all (workers/shared-limits.ts)';
const BYTES_COUNT = 'what waits is bounded by its bytes, which are split';
const LONGEST_CALL = 'one process needs as much for the longest call';

/** Bounds, or whole groups of them, that each process has in full. */
export const notShared: Readonly<Record<string, string>> = {
  connection: 'of one socket, which one process has',
  webSocket: 'of one socket, which one process has',
  call: 'of one call, which one process runs',
  doors: 'of one call, which one process runs',
  rendering: 'of connections between processes; what they carry has bounds of its own',
  'proxy.handshakeMs': A_TIME,
  'proxy.tunnelIdleMs': A_TIME,
  'proxy.tunnelLookEveryMs': A_TIME,
  'proxy.headerBytesMax': 'of one socket, which one process has',
  'proxy.headersTimeoutMs': A_TIME,
  'proxy.keepAliveTimeoutMs': A_TIME,
  'proxy.silenceMs': A_TIME,
  'proxy.pipelinedMax': 'of one socket, which one process has',
  'proxy.leavesMax': 'every process meets every host',
  'proxy.closeWithinMs': A_TIME,
  'address.failedLoginsMax': COUNTED_FOR_ALL,
  'address.failedLoginsWindowMs': A_TIME,
  'address.pagesPerMinute':
    'a browser keeps to one connection: a share would refuse people; a page costs no more than a refusal',
  'address.crossOriginPerMinute': 'a browser keeps to one connection; beyond it a preflight waits a minute at most',
  'address.unknownSessionsMax': 'a read of the database each: a share would refuse browsers with old cookies',
  'address.wrongDeviceCodesMax': 'counted in the database',
  'address.webSocketsMax': COUNTED_FOR_ALL,
  'address.addressesMax': MEMORY_OF_ALL,
  'all.commitsOfShard': 'the least there is',
  'all.descriptorsReserved': 'the system counts descriptors by process',
  'all.spareConnectionMs': A_TIME,
  'all.arrivalSliceMs': A_TIME,
  'all.acceptingMs': A_TIME,
  'all.liveStreamsOfSession': 'those of all sessions are split, which bounds these too',
  'all.turnWaitMs': A_TIME,
  'all.turnLookMs': A_TIME,
  'all.turnBurstMs': A_TIME,
  'all.turnBurstWaitMs': A_TIME,
  'all.turnOwnWaitMs': A_TIME,
  'all.answerBytesMax': LONGEST_CALL,
  'all.pictureBytesMax': LONGEST_CALL,
  'all.refusalHeldMaxMs': A_TIME,
  'all.refusedRemembered': MEMORY_OF_ALL,
  'all.lockedAccountCallsMax': 'of one account, which has its home in one process',
  'all.bodyThreadIdleMs': A_TIME,
  'all.bodyThreadNiceness': 'a priority, not an amount',
  'all.batchItemsAtOnce': ONE_PROCESS,
  'all.batchBytesMax': ONE_PROCESS,
  'all.longCalls': ONE_PROCESS,
  'all.longCallsOfHost': ONE_PROCESS,
  'all.longCallBytesMax': ONE_PROCESS,
  'all.waitingWorkMax': BYTES_COUNT,
  'all.bodyThreadHeapMb': 'of one thread; their number is split',
  'all.bodyThreadMsMax': A_TIME,
  'all.decodesAtOnce': 'two, so that an account leaves one',
  'all.blockThreadMsMax': A_TIME,
  'all.blockThreadMemory': 'of one thread; their number is split',
  'all.spareMemory': 'when one process gives back what it does not use',
  'all.toolSetsRemembered': MEMORY_OF_ALL,
  'all.keysRemembered': MEMORY_OF_ALL,
  'all.ruleSetsRemembered': MEMORY_OF_ALL,
  'all.deadSecretsRemembered': MEMORY_OF_ALL,
  'all.ratesRemembered': 'the first process keeps them; another has those of the accounts that it met',
  'all.pdfsWaitingMax': BYTES_COUNT,
  'all.pagesWaitingMax': BYTES_COUNT,
  'all.shotsWaitingMax': BYTES_COUNT,
  'all.tailsMax': COUNTED_FOR_ALL,
  'account.waitingWorkMax': BYTES_COUNT,
  'account.pdfsWaitingMax': BYTES_COUNT,
  'account.pagesWaitingMax': BYTES_COUNT,
  'account.shotsWaitingMax': BYTES_COUNT,
  'account.batchItemsAtOnce': ONE_PROCESS,
  'account.webSocketsMax': COUNTED_FOR_ALL,
  'account.tailsMax': COUNTED_FOR_ALL,
  'account.analyticsQueriesAtOnce': COUNTED_FOR_ALL,
  'account.pendingTopupsMax': 'counted in the database',
};
