// Admission limits per connection, address, process, account and call, in the order in which a request meets them. Every bound on memory or time
// on the service's side is set here; mechanisms import it or get it passed. Each bound has a comment: the refusal it causes, and what that
// refusal costs. Rates and concurrent calls per tier are in tiers.ts. With several processes behind one port (WORKERS), a bound of `all` holds
// for all together (shares.ts).

const KIB = 1024;
const MIB = 1024 * KIB;

export const admission = {
  /** So many share what stands below for all. */
  processes: 1,
  /** One socket. */
  connection: {
    /** Longer, or not HTTP: a bare 400 and the end. Costs what was read. */
    headerBytesMax: 16 * KIB,
    /** The head of a request has this long (looked at so often), all of it the last, but for bodies taken as they come: bare 400 and the end. */
    headersTimeoutMs: 15_000,
    headersLookEveryMs: 30_000,
    requestTimeoutMs: 60_000,
    /** Between two requests: closed. */
    keepAliveTimeoutMs: 72_000,
    /** Without a byte in either direction, as of a client that does not read its answer: closed. Longer than all other waits of a connection. */
    silenceMs: 75_000,
    /** But while a call that is here whole is being answered: three vendors of models may take a quarter of an hour each. Then: the end. */
    answeringMs: 60 * 60_000,
    /** Of a refused body: one announced as no longer is read to its end and the connection goes on, else it ends after these. */
    refusedBodyReadWholeBytes: 64 * KIB,
    refusedBodyReadBytes: 256 * KIB,
    refusedBodyReadMs: 2_000,
    /** Requests sent ahead of the answer before; they wait unread, and have taken nothing. More: the end; the rest is not looked at. */
    pipelinedMax: 16,
    /** Uploads and answers are looked at so often. */
    lookEveryMs: 1_000,
    /** A body that is slower over this long: bare 400 and the end. */
    uploadGraceMs: 5_000,
    uploadBytesPerSecondMin: KIB,
    /** An answer is to be read in the grace and its bytes at this rate: the end. */
    readGraceMs: 10_000,
    readBytesPerSecondMin: 32 * KIB,
  },

  /** One WebSocket, once its handshake is answered. Its handshake is a request like any other; an unread or half-sent one is bounded above. */
  webSocket: {
    /** Unless its route says otherwise, all fragments together: 1009. Costs what has arrived of it. */
    messageBytesMax: 64 * KIB,
    /** Fragments of a message, and pieces in which the network brings a frame: 1008. Each takes some 200 bytes beside its own. */
    fragmentsMax: 128,
    piecesMax: 1_024,
    /** Messages (pings and pongs are some) and bytes that it may send, with `burstSeconds` of both at once: 1008. Then nothing more is read. */
    messagesPerSecond: 50,
    bytesPerSecond: 256 * KIB,
    burstSeconds: 4,
    /** Bytes sent to it that it has not read: 1013. */
    unreadBytesMax: MIB,
    /** It is looked at so often: what it holds, whether it lives, and whether its principal still may. */
    lookEveryMs: 1_000,
    pingEveryMs: 30_000,
    /** No pong for so long: the end. */
    pongWithinMs: 60_000,
    /** Without a principal, on a route that lets it in to identify itself: 1008. */
    identifyWithinMs: 10_000,
    /** To answer the service's close frame, or to read it: the end. */
    closeWithinMs: 2_000,
    /** At a stop the sockets of a process are closed one after the other within this, so that not all come again at once. */
    stopWithinMs: 2_000,
  },

  /**
   * One address: the socket's peer, or what TRUST_PROXY says. An IPv6 /64 is one. Of the connections it may have as many as are free, half
   * of them when it is alone; a proxy that TRUST_PROXY names any number.
   */
  address: {
    /**
     * Further failing logins: 429 RATE_LIMITED. Valid keys pass. So many wrong signatures of bodies that name one key: its bodies above
     * `readHereBytesMax` are refused before they are read, by each process. A refusal costs the head of a request.
     */
    failedLoginsMax: 20,
    failedLoginsWindowMs: 60_000,
    /** Views of pages that need no session, such as those to pay: 429 RATE_LIMITED. */
    pagesPerMinute: 240,
    /**
     * Requests of pages of other origins to a bucket of S3 that name no key, preflights most of all: 503 SlowDown. Each reads the rules of the
     * bucket's name, of up to 200 accounts in pages of 20.
     */
    crossOriginPerMinute: 600,
    /** Session cookies that were nobody's, in the window of logins: 429 RATE_LIMITED without a read of the database. Live sessions pass from elsewhere. */
    unknownSessionsMax: 60,
    /**
     * Wrong device codes, in 10 minutes: 429, as after five of one session. There are 20^8 = 2.6 x 10^10 codes, and each lives for ten
     * minutes: an address hits one that waits with a chance of 4 in 10^8, ten thousand addresses with one of 4 in 10^4.
     */
    wrongDeviceCodesMax: 1_000,
    /** WebSockets, of any accounts: 429 CONCURRENCY_LIMITED to the handshake. */
    webSocketsMax: 2_000,
    /** Remembered at once; then the oldest are forgotten. */
    addressesMax: 10_000,
  },

  /**
   * The process. What is shared (connections, places, bytes) goes by fair slots: an account, or address, may take more only while it holds
   * less than is free, so that it has half when it is alone, and a newcomer always finds some. Beyond: who holds a quarter or more gets
   * 429 CONCURRENCY_LIMITED, others 503 OVERLOADED.
   */
  all: {
    /** Or as many as descriptors allow. Beyond: a bare 503 and the end, which costs an accept. */
    connectionsMax: 20_000,
    /** Descriptors left to the database, to webhooks and to files. */
    descriptorsReserved: 1_024,
    /** Further connections let in for this long: they are answered at /healthz, /readyz and /metrics, and 503 elsewhere. */
    spareConnections: 64,
    spareConnectionMs: 2_000,
    /** Requests sent ahead of answers, on all connections: beyond, the connection ends. */
    pipelinedMax: 20_000,
    /** Requests are begun for this long in a turn of the event loop; more wait, by turns of their addresses. */
    arrivalSliceMs: 5,
    /** While connections are accepted, one a turn, requests wait for at most so long. */
    acceptingMs: 10,
    /** Calls that run at once: at 10,000 a second a place is free again after 50 ms. Long polls that wait take none. */
    places: 512,
    /** Requests whose body or answer is read or written as it comes; each holds the buffers of its socket and of what makes it. */
    streams: 4_096,
    /** WebSockets, and those that have not identified themselves; each is a connection too. */
    webSockets: 12_000,
    unidentifiedWebSockets: 200,
    /** Bytes of half messages that WebSockets have sent, and of messages that they have not read: 1013. */
    webSocketBytesMax: 64 * MIB,
    /** Pages of the console that are told when something moves, and of them one session's; further pages look every ten seconds: 429. */
    liveStreams: 200,
    liveStreamsOfSession: 5,
    /** A call waits this long in all, to begin and for a place, looked at so often; in the first half second of a queue longer. */
    turnWaitMs: 200,
    turnLookMs: 50,
    turnBurstMs: 500,
    turnBurstWaitMs: 1_000,
    /** So long it waits for a place while its own account holds a quarter of them or more: a thousand calls at once are no overload. */
    turnOwnWaitMs: 10_000,
    /** Bytes of bodies received and not done with. */
    bodyBytesMax: 192 * MIB,
    /** Claims of messages under way, in turns by account: what they bring is counted only when it is there. */
    claimsAtOnce: 12,
    /** Bytes of answers that are being made, of what is read for them too. */
    answerMakingBytesMax: 128 * MIB,
    /** Bytes of answers that clients have not read. Beyond: the connection whose answer has waited longest ends. */
    answerBytesMax: 72 * MIB,
    /** Bytes of pictures fetched for vendors that fetch none, until they are sent: each is in memory some three times. Refused before they are read. */
    pictureBytesMax: 72 * MIB,
    /** Calls that wait for a thread that makes PDFs, for one that reads web pages, and for a browser: OVERLOADED. They hold what they were sent, or have fetched. */
    pdfsWaitingMax: 100,
    pagesWaitingMax: 50,
    shotsWaitingMax: 20,
    /** Pictures decoded at once, each in a process of its own at low priority, an account never all of them; more wait. */
    decodesAtOnce: 2,
    /** Answers of vectors of megabytes that are made at once; more wait. */
    longAnswersAtOnce: 2,
    /** 429 and OVERLOADED go out at once so often; more are held, without a place, for at most so long. Each costs half a call. */
    refusalsPerSecond: 2_000,
    refusalHeldMaxMs: 2_000,
    /** Accounts and addresses whose refusals are counted. */
    refusedRemembered: 10_000,
    /** Connections to the database for calls' commits, and as many for all else. */
    databaseConnections: 6,
    /** A second one lets other accounts proceed while one waits for the disk; more only make each carry fewer calls. */
    commitsAtOnce: 2,
    /** Commits at once at each node of a distributed engine, each with a connection beside those; and of one shard, whose accounts share them. */
    distributedCommits: 8,
    commitsOfShard: 1,
    /** Billable calls that wait for a commit. */
    laneItemsMax: 20_000,
    /** What they are to write, or to answer. */
    laneBytesMax: 192 * MIB,
    /** Accounts whose wallet someone else holds wait with their calls beside the commits of all others. */
    lockedAccountsMax: 200,
    /** Connections for all of them together; the others wait their turn without one. */
    lockedAccountsAtOnce: 2,
    /** Calls of a second that the request log keeps, of at most 18 KB each. */
    loggedCalls: 1_000,
    /** Short calls that succeeded and wait for the request log's archive, some 600 bytes each. */
    shortCallsWaiting: 20_000,
    /** Received webhooks of a second that are to be listed, and the bytes of their messages; more are not listed. */
    receivedWebhooks: 10_000,
    receivedWebhookBytes: 16 * MIB,
    /** Streams that follow a log, each with a read a second: 503 OVERLOADED. */
    tailsMax: 100,
    /** Calls that one of them lets wait in a lane once that lasts; beyond: 503 SERVICE_UNAVAILABLE. */
    lockedAccountCallsMax: 128,
    /** Effects too large for a shared commit, each with a database connection for seconds; more wait. */
    largeWritesAtOnce: 2,
    /** Threads that read long bodies; more bodies wait, in turns by account. */
    bodyThreads: 3,
    /** Of one body in them; then its thread is ended. */
    bodyThreadMsMax: 30_000,
    /** Without a body for so long a thread ends: its heap is given back. */
    bodyThreadIdleMs: 30_000,
    /** They are so nice on Linux: calls go first. */
    bodyThreadNiceness: 10,
    /** Threads that decode and merge blocks of logs, metrics and events; an account has at most two. More work waits, in turns. What is outside of the heap is collected late. */
    blockThreads: 3,
    /** Of one piece of work in them; then its thread is ended. */
    blockThreadMsMax: 30_000,
    blockThreadMemory: { heapMb: 256, outsideHeapMb: 320 },
    /** Requests of AI batches under way, each with what it asks and what it is answered. */
    batchItemsAtOnce: 32,
    /** Bytes of these requests, and of vectors that they are answered. One that finds no room is made a second later. */
    batchBytesMax: 128 * MIB,
    /**
     * Calls of users' URLs, and of capabilities by schedules, that may take longer than 15 s, in fair shares; the next wait. A host, of all accounts,
     * unless one alone may have more by its tier. Bytes that they keep: what is sent.
     */
    longCalls: 4_096,
    longCallsOfHost: 200,
    longCallBytesMax: 128 * MIB,
    /** Compressed bodies that are inflated and read at the same time; more wait as they came, in turns by account. Streams of bodies count by their windows. */
    inflationsAtOnce: 2,
    /** Bodies, or other pieces of work, that wait for one kind of turn. */
    waitingWorkMax: 4_000,
    /** More than any body needs that has not too many objects and arrays, on small machines too. */
    bodyThreadHeapMb: 1_024,
    /** A process that was idle for so long, and has grown by so much since it was least, gives back what it does not use: a pause of some 100 ms. */
    spareMemory: { startIdleMs: 1_000, idleMs: 10_000, utilizationMax: 0.1, grownBytesMin: 100 * MIB },
    /** Lists of tools remembered, one for each choice of modules and scopes that is in use; more are made again. */
    toolSetsRemembered: 200,
    /** Keys remembered; more are looked up again. Secrets that let nobody in are remembered apart: they never push out a key. */
    keysRemembered: 50_000,
    /** Accounts whose approval rules are remembered. */
    ruleSetsRemembered: 10_000,
    deadSecretsRemembered: 10_000,
    /** Accounts whose rates are remembered; a forgotten one has its full burst. */
    ratesRemembered: 100_000,
  },

  /** One account, or address without a key. Its shares of what all have follow from their numbers. */
  account: {
    /** Of what waits for one kind of turn. */
    waitingWorkMax: 500,
    /** Of its pages are told when something moves, whatever sessions they are of: ten such accounts leave nothing for others. */
    liveStreams: 20,
    /** WebSockets: 429 CONCURRENCY_LIMITED to the handshake. */
    webSocketsMax: 5_000,
    /** Messages of all of them in a second (pings and pongs are some); then they are read again in the next one. At some 10 µs each. */
    webSocketMessagesPerSecond: 5_000,
    /** Of its refusals go out at once; more are held. */
    refusalsPerSecond: 200,
    /** Requests of its AI batches under way: the next wait. */
    batchItemsAtOnce: 8,
    /** Its calls of a second that the request log keeps; more are counted. */
    loggedCalls: 200,
    /** Its short calls of a second that the request log keeps: of more a sample. */
    shortCallsPerSecond: 50,
    shortCallsWaiting: 2_000,
    /** Its received webhooks of a second that are to be listed, and the bytes of their messages. */
    receivedWebhooks: 1_000,
    receivedWebhookBytes: 4 * MIB,
    /** Streams that follow its request log, and as many that follow its log records: 429 CONCURRENCY_LIMITED. */
    tailsMax: 5,
    /** Queries of analytics, each of which may keep the threads for seconds: 429 CONCURRENCY_LIMITED. */
    analyticsQueriesAtOnce: 2,
    /** Its calls that wait for a thread that makes PDFs, that reads pages, and for a browser: CONCURRENCY_LIMITED. Of two or more threads it never has all. */
    pdfsWaitingMax: 20,
    pagesWaitingMax: 20,
    shotsWaitingMax: 5,
    /** Top-ups that nobody has paid: 409 QUOTA_EXCEEDED. Each ends after a day. */
    pendingTopupsMax: 20,
  },

  /**
   * RENDER_PORT and RENDERERS, between processes of the deployment that know one another by a key. Each order has the bounds of its kind, too, where
   * it is done.
   */
  rendering: {
    /** With the key or without it yet: the end. */
    connectionsMax: 512,
    handshakeMs: 5_000,
    /** Longer than what is rendered, and what is made of it, may be: the end. */
    frameBytesMax: 128 * MIB,
    /** Each side says so often that it lives; without a word for so long the connection is lost. */
    beatMs: 5_000,
    silenceMs: 20_000,
    /** Orders to others under way, an account at most half; more wait. */
    ordersAtOnce: 64,
    /** For orders that are under way when the process stops; then they end. */
    closeWithinMs: 5_000,
  },
  /**
   * VAULT_PORT, by which clients send requests through the service. Its connections are apart from those of `all`. Each request that is relayed
   * has the bounds of its capability, too.
   */
  proxy: {
    /** Connections that have shown no key yet, in fair shares of addresses: the end. Each lasts as long as a head may take. */
    unidentifiedMax: 512,
    /** Connections with a key, in fair shares of accounts: one alone has half. 429 CONCURRENCY_LIMITED. Each takes some 60 KB with its TLS. */
    socketsMax: 2_048,
    /** Of them in a TLS handshake, in fair shares of accounts: 429 CONCURRENCY_LIMITED. Each takes a millisecond of processor time. */
    handshakesMax: 256,
    handshakeMs: 10_000,
    /** Of them tunnels to hosts of no connection (VAULT_OTHERS), each with a socket to its host, in fair shares: 429 CONCURRENCY_LIMITED. */
    tunnelsMax: 512,
    /** Without a byte in either direction: the end. */
    tunnelIdleMs: 300_000,
    /** Whether the principals of tunnels still may is looked at so often. */
    tunnelLookEveryMs: 1_000,
    /** Longer: a bare 431 and the end. Cookies of targets are among them. */
    headerBytesMax: 32 * KIB,
    /** To send a head: a bare 408 and the end. */
    headersTimeoutMs: 15_000,
    /** Between two requests: the end. */
    keepAliveTimeoutMs: 72_000,
    /** Without a byte in either direction while a request is under way: the end. Longer than any target may take to answer. */
    silenceMs: 330_000,
    /** Requests sent ahead of the answer before, which wait: the end. */
    pipelinedMax: 16,
    /** Certificates of hosts that are kept, some 40 KB each; others are made again, in a millisecond. */
    leavesMax: 500,
    /** At a stop, requests under way have so long. */
    closeWithinMs: 5_000,
  },

  /**
   * Doors that are no capability of a module: bytes of a body. Each is read only once an address, a cookie or a head let it in, and nothing of it
   * is decoded before the session, signature or token in it is known. What a module takes at its own doors stands in its limits.ts: bodies up to
   * `freeBodyBytesMax` where no rate weighs them, `ratedBodyBytesMax` where one does, and longer ones where threads read them.
   */
  doors: {
    /** Of pages to sign in, to approve a device and to pay; of /oauth. */
    formBytesMax: 16 * KIB,
    /** Of S3, before the file: fields with their heads, and how many; behind it, which nobody reads. The file has the bound of a PUT. */
    postFieldsBytesMax: 32 * KIB,
    postFieldsMax: 100,
    postBehindBytesMax: 64 * KIB,
    /** Of the console, whose forms hold payloads. */
    consoleFormBytesMax: 128 * KIB,
    /** What a payment provider says. Costs one hash; it is read as JSON only when its signature is right. */
    paymentWebhookBytesMax: 256 * KIB,
    /** What a vendor says of a job: the token in the address is looked up first. */
    vendorCallbackBytesMax: MIB,
    /** What another service sends to a receiver: the token in the address and the account's rate come first, then one hash; what is above 256 KiB is not read. */
    receivedWebhookBytesMax: MIB,
    /** One message of MCP: the key, its scope and rate come first, then the bound of the tool that it calls. */
    mcpMessageBytesMax: 512 * KIB,
  },

  /** One call. */
  call: {
    /** The longest turn of the event loop that it may cause, in processor time. test/admission/turns.alone.test.ts holds each door to it. */
    turnMsMax: 20,
    /** Unless its capability says otherwise (`bodyBytesMax`): 413 PAYLOAD_TOO_LARGE, before it is read where it is announced. */
    bodyBytesMax: 64 * KIB,
    /** Of operations that no rate bounds and that cost nothing, such as queue.ack. A manifest with more is refused. */
    freeBodyBytesMax: 16 * KIB,
    /** Of operations whose bodies are not read in threads: those with a rate, which is weighed by bytes. A manifest with more is refused. */
    ratedBodyBytesMax: 512 * KIB,
    /** Levels of nesting: 400 MALFORMED_JSON, code_detail `depth`. Costs one walk over the text. */
    depthMax: 32,
    /** Objects and arrays: 413, code_detail `containers`. Each takes many times the memory of its two characters. */
    containersMax: 1_000_000,
    /** Names with values, but for those in opaque values: 413, code_detail `members`. An object of so many takes milliseconds to walk. */
    membersMax: 10_000,
    /** Fields of a form of a page: PAYLOAD_TOO_LARGE. Costs one walk over its bytes. */
    formFieldsMax: 1_000,
    unknownFieldsMax: 2_000, // Looked at in one body; then `metadata.warnings` says that there are more.
    /**
     * What is asked before what, at every door: the address, the credential, its scope and rate, then the body. Where only the body completes
     * the credential (SQS), whom the head names is asked first, the hash is made as the body arrives, and the body counts against the account
     * that is named, apart from what that account's own calls hold. Announced as no longer, a body is not counted: its connection bounds it. */
    uncountedBodyBytes: 4 * KIB,
    /** What MCP answers a tool's call with has at most so many characters: strings beyond are cut, and named in `truncated`.
     * Pointers in `select` of a tool's call, and characters of each: VALIDATION_FAILED. */
    mcpAnswerCharacters: 64 * KIB,
    mcpSelectMax: 50,
    mcpSelectCharactersMax: 500,
    /** Calls that a call may stand within: a module that would call itself without end is told by its log. */
    invokedWithinMax: 4,
    /** account.search: of each list the first pages, each of so many items; objects beyond are not found by name. */
    search: { textCharactersMax: 200, pagesMax: 5, pageItems: 100, foundOfKindMax: 20 },
    /** Of a dashboard or a saved question (kit/saved.ts): VALIDATION_FAILED. What an account may have of each is a limit of its tier. */
    saved: { nameCharactersMax: 100, panelsMax: 20, queryCharactersMax: 2_000, daysMax: 400 },
    /** A picture sent with a video, or made by a vendor. Beyond: VALIDATION_FAILED, code_detail `image_size` or `image_too_costly`. Costs its head;
     * of one that takes too long or too much memory as much as stands here, in a process that then ends. The most that a sound one takes: 4 s (a
     * WebP of 40 megapixels), 400 MiB (a progressive JPEG turned by its EXIF). */
    picture: {
      bytesMax: 10 * MIB,
      sidePxMin: 64,
      sidePxMax: 8_192,
      pixelsMax: 40_000_000,
      /** 40 megapixels with alpha at 8 bits; half as many at 16. */
      decodedBytesMax: 160_000_000,
      /** Larger ones are made one at a time: two of 40 megapixels would take 800 MiB. */
      smallPixelsMax: 12_000_000,
      /** Each goes over the whole picture: 1,000 in 140 KB take 10 s. */
      scansMax: 64,
      cpuMsMax: 15_000,
      msMax: 60_000,
      memoryBytesMax: 640 * MIB,
    },
    /**
     * A picture that image.transform or image.info works on, its frames one above the other. Beyond: VALIDATION_FAILED, code_detail `image_size`,
     * `image_frames`, `image_too_large` or `image_too_costly`. Made as those of videos are, in the same turns.
     */
    image: {
      bytesMax: 20 * MIB,
      pixelsMax: 50_000_000,
      /** 50 megapixels with alpha at 8 bits. */
      decodedBytesMax: 200_000_000,
      framesMax: 100,
      /** Of what is made, which has at most `pixelsMax` too. */
      sidePxMax: 8_192,
      madeBytesMax: 64 * MIB,
      smallPixelsMax: 12_000_000,
      scansMax: 64,
      cpuMsMax: 15_000,
      msMax: 20_000,
      memoryBytesMax: 768 * MIB,
    },
    /** A PDF that is made or read, in a thread of its own: its time and memory (looked at every 20 ms, a browser's every 200),
     * what it has fetched, and what it made. Beyond: VALIDATION_FAILED, code_detail `too_complex` or `too_large`. Costs what stands here. */
    pdf: {
      msMax: 30_000,
      heapMb: 512,
      outsideHeapMb: 384,
      browserMb: 1_024,
      fetchesMax: 100,
      fetchedBytesMax: 20 * MIB,
      madeBytesMax: 64 * MIB,
    },
    /** A web page that is read, in a thread too, and a screenshot, in a thread and a browser of its own: VALIDATION_FAILED, `too_complex`. */
    page: { msMax: 5_000, heapMb: 512, outsideHeapMb: 128 },
    shot: { msMax: 30_000, heapMb: 256, outsideHeapMb: 256, browserMb: 1_024 },
    readHereBytesMax: 64 * KIB, // Longer bodies are read in a thread; up to here reading takes some 2 ms.
    /** The head of an answer of a model that streams goes out after so long, content or not, which costs the status of what fails later.
     * Then a comment whenever nothing else of it has gone out for so long: shorter than what proxies take for dead. */
    streamHeadAfterMs: 15_000,
    streamCommentEveryMs: 10_000,
  },
};

/** Tests take smaller bounds. */
export type Admission = typeof admission;
