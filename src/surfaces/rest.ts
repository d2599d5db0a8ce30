// REST: one route per capability, the public documents, health. HTTP ends here; behind it is the pipeline.
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type preParsingHookHandler,
} from 'fastify';
import { admission } from '../core/admission.ts';
import type { Logger } from '../core/logger.ts';
import { tokenWorth } from '../core/tiers.ts';
import { isShort } from '../gateway/bulk/readers.ts';
import { Call } from '../gateway/call.ts';
import type { Endpoint } from '../gateway/endpoint.ts';
import type { Envelope, Identity } from '../gateway/envelope.ts';
import { afterBody, beforeBody, runCapability, runSteps, toProblem } from '../gateway/pipeline.ts';
import type { Gateway } from '../gateway/step.ts';
import { traceparentOf } from '../gateway/trace-context.ts';
import type { Traffic } from '../gateway/traffic.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { Blocks } from './blocks.ts';
import { type CallSlot, identify, slotOf, toRequest, urlOf } from './call-slot.ts';
import { onClosed } from './closed.ts';
import { doubledHeader } from './doubled-headers.ts';
import { answerThenLinger, leavesMuchUnread } from './linger.ts';
import { addRawRoute, BEARER_CHALLENGE, finishRaw, type MountedRawRoute } from './raw.ts';
import { fromFastifyError } from './rest-errors.ts';
import { RouteTable } from './route-table.ts';

export interface RestOptions {
  readonly endpoints: readonly Endpoint[];
  readonly rawRoutes: readonly MountedRawRoute[];
  /** First segments below /v1 of modules that are not built, to their names. */
  readonly planned: ReadonlyMap<string, string>;
  readonly gateway: () => Gateway | null;
  readonly envelope: () => Envelope;
  readonly traffic: Traffic;
  readonly log: Logger;
  readonly trustProxy: boolean | string[];
}

/** On every answer; pages have a policy of their own. */
const everywhere = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
const JSON_TYPE = 'application/json; charset=utf-8';
/** Encoding so many takes a millisecond or two. */
const LONG_CHARACTERS = 512 * 1024;

/** Builds the server; nothing listens yet. `gateway()` is null until the database is ready: calls then get 503. */
export function createRest(options: RestOptions): FastifyInstance {
  const { connection } = admission;
  const app = Fastify({
    logger: false,
    trustProxy: options.trustProxy,
    requestTimeout: connection.requestTimeoutMs,
    connectionTimeout: connection.silenceMs,
    keepAliveTimeout: connection.keepAliveTimeoutMs,
    http: { maxHeaderSize: connection.headerBytesMax },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: {
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, string>,
      // Longer than a request line can be: the schema of each field says how long it may be.
      maxParamLength: 65_536,
    },
    frameworkErrors(error, request, reply) {
      // No hook runs for these.
      void reply.headers(everywhere);
      fail(options, request as FastifyRequest, reply as FastifyReply, fromFastifyError(error, 0));
    },
    clientErrorHandler(_error, socket) {
      // Also for a request that is not sent in time: no code of the catalogue has status 408 (docs/contract.md §12).
      if (socket.writable) socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      // Whoever keeps their side open would otherwise keep the socket.
      socket.destroySoon();
    },
  });
  app.server.headersTimeout = connection.headersTimeoutMs;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: Buffer) => void) => done(null, body),
  );
  app.decorateRequest('slot', null as unknown as CallSlot);
  const routes = new RouteTable(options.planned);
  app.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(everywhere);
    const doubled = doubledHeader(request.raw.rawHeaders);
    if (doubled !== null) return done(doubledRefusal(doubled));
    if (!request.is404 || !carriesBody(request)) return done();
    // Fastify would read the body first, of anyone.
    void reply.header('connection', 'close');
    fail(options, request, reply, routes.refusal(request, reply));
  });
  for (const endpoint of options.endpoints) addRoute(app, options, endpoint);
  for (const mounted of options.rawRoutes) addRawRoute(app, options, mounted);
  app.setErrorHandler((error, request, reply) =>
    fail(options, request, reply, fromFastifyError(error, endpointLimit(request))),
  );
  app.setNotFoundHandler((request, reply) => fail(options, request, reply, routes.refusal(request, reply)));
  return app;
}

function doubledRefusal(name: string): Problem {
  return problem('INVALID_REQUEST', { message: `Send one ${name} header, not several.`, detail: 'doubled_header' });
}

function addRoute(app: FastifyInstance, options: RestOptions, endpoint: Endpoint): void {
  app.route({
    method: endpoint.capability.method,
    url: urlOf(endpoint.capability.path),
    bodyLimit: endpoint.bodyBytesMax,
    onRequest: async (request, reply) => {
      const gateway = options.gateway();
      if (gateway === null)
        throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, message: 'The service is starting or stopping.' });
      const place = options.traffic.begin(request.headers, endpoint.bodyBytesMax, endpoint.capability.waits === true);
      const call = new Call(gateway.core, endpoint, toRequest(request, reply));
      const slot = slotOf(request);
      slot.call = call;
      slot.place = place;
      call.occupy(() => options.traffic.end(place));
      // Of a client that leaves before its body is read, Fastify calls neither the handler nor the error handler.
      onClosed(request.raw, reply.raw, () => {
        slot.closed = true;
        if (slot.handling !== true) call.release();
      });
      await runSteps(beforeBody, call, gateway);
      options.traffic.claim(place, call.accountId);
    },
    ...(endpoint.capability.bulk === undefined ? {} : { preParsing: intoBlocks }),
    handler: async (request, reply) => {
      const gateway = options.gateway();
      const slot = slotOf(request);
      const { call, place } = slot;
      if (gateway === null || call === undefined || place === undefined)
        throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
      slot.handling = true;
      try {
        call.body = (request.body as Buffer | undefined) ?? null;
        call.blocks = slot.blocks?.blocks ?? null;
        options.traffic.arrived(place, slot.blocks?.receivedEncodedLength ?? call.body?.length ?? 0);
        await runSteps(afterBody, call, gateway);
        const answer = await runCapability(call);
        call.billed = answer.costNanos !== undefined && answer.costNanos > 0n;
        // Written before its status is set: data that JSON cannot hold is a failure, and told as one.
        const text = options.envelope().success(call, answer);
        call.weigh(Math.floor(text.length / tokenWorth.answerBytes));
        const body = text.length > LONG_CHARACTERS ? await encodedInTurn(text) : text;
        finish(options, call, reply, 200);
        return reply.send(body);
      } finally {
        slot.handling = false;
        if (slot.closed === true) call.release();
      }
    },
  });
}

const intoBlocks: preParsingHookHandler = (request, _reply, payload, done) => {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (isShort(announced)) return done(null, payload);
  const blocks = new Blocks(payload as Readable, announced, endpointLimit(request));
  slotOf(request).blocks = blocks;
  done(null, blocks);
};

/** The bytes of a long answer; other calls go before and after. */
async function encodedInTurn(text: string): Promise<Buffer> {
  await turn();
  const bytes = Buffer.from(text);
  await turn();
  return bytes;
}

/** Counts the call once, and sets status and headers of its answer. Its places are freed once the answer is out. */
function finish(options: RestOptions, call: Call, reply: FastifyReply, status: number): void {
  if (!call.finished) {
    call.finished = true;
    options.traffic.record(call.capability, status, performance.now() - call.startedMs);
    if (call.authenticated && !call.billed)
      call.core.usage.count(call.accountId, call.key.keyId, call.capability, status >= 400);
  }
  void reply.code(status).headers({
    'content-type': JSON_TYPE,
    'x-request-id': call.requestId,
    traceparent: call.traceparent,
    ...call.headers,
  });
}

function fail(options: RestOptions, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const failure = toProblem(error);
  const slot = slotOf(request);
  const { call } = slot;
  const identity: Identity = call ?? slot.raw?.identity ?? identify(request);
  if (failure.httpStatus >= 500) {
    options.log.error(
      {
        err: failure.cause ?? failure,
        request_id: identity.requestId,
        capability: slot.raw?.name ?? call?.capability,
        code: failure.code,
      },
      'call failed',
    );
  }
  if (failure.httpStatus === 401) void reply.header('www-authenticate', BEARER_CHALLENGE);
  const raw = slot.raw?.refuse(failure) ?? null;
  if (raw !== null) {
    refuse(request, reply, finishRaw(options.traffic, slot, reply, raw));
    return;
  }
  if (call !== undefined) finish(options, call, reply, failure.httpStatus);
  else {
    void reply.code(failure.httpStatus).headers({
      'content-type': JSON_TYPE,
      'x-request-id': identity.requestId,
      traceparent: traceparentOf(identity.traceId),
    });
  }
  if (failure.retryAfterMs !== undefined && (failure.httpStatus === 429 || failure.httpStatus === 503)) {
    void reply.header('retry-after', String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))));
  }
  const envelope = options.envelope();
  if (request.headers.accept?.includes('application/problem+json') === true) {
    void reply.header('content-type', 'application/problem+json; charset=utf-8');
    refuse(request, reply, envelope.problemJson(identity, failure));
  } else refuse(request, reply, envelope.failure(identity, failure));
}

/** Sends the answer of a failure. The rest of a large body is not read. */
function refuse(request: FastifyRequest, reply: FastifyReply, text: string | Buffer): void {
  if (!leavesMuchUnread(request.raw)) {
    void reply.send(text);
    return;
  }
  slotOf(request).call?.release();
  void reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(text) });
  void reply.send(answerThenLinger(request.raw, text));
}

function carriesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function endpointLimit(request: FastifyRequest): number {
  return request.routeOptions.bodyLimit;
}
