// REST: one route per capability, the public documents, health. HTTP ends here; calls continue in gateway/invoke.ts.
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { S3Addresses } from '../../config/s3.ts';
import { tokenWorth } from '../../core/callers/tiers.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { Call } from '../../gateway/call.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import { passGates } from '../../gateway/gates.ts';
import { confirm, identify } from '../../gateway/identify.ts';
import { admit, run } from '../../gateway/invoke.ts';
import { shortBody } from '../../gateway/log-call.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { answerOf } from '../http/answer.ts';
import type { Connections } from '../http/connections.ts';
import { doubledHeader, everywhere } from '../http/headers.ts';
import { s3Roots } from '../http/s3-roots.ts';
import { addRawRoute, bodyConstraint, type MountedRawRoute, type RawOptions } from '../raw/raw.ts';
import { noSocketHere } from '../sockets/accept.ts';
import { CallRequest, type CallSlot, slotOf, urlOf } from './call-slot.ts';
import { fail } from './failures.ts';
import { fromFastifyError } from './fastify-errors.ts';
import { finish } from './finish.ts';
import { claim, occupy } from './occupy.ts';
import { readRequest } from './read-request.ts';
import { receiving } from './receive.ts';
import { RouteTable } from './route-table.ts';

export interface RestOptions extends RawOptions {
  readonly endpoints: readonly Endpoint[];
  readonly rawRoutes: readonly MountedRawRoute[];
  /** First segments below /v1 of modules that are not built, to their names. */
  readonly planned: ReadonlySet<string>;
  readonly connections: Connections;
  readonly trustProxy: boolean | string[];
  readonly s3: S3Addresses;
}

/** Encoding so many takes a millisecond or two. */
const LONG_CHARACTERS = 512 * 1024;

/** Builds the server; nothing listens yet. `gateway()` is null until the database is ready: calls then get 503. */
export function createRest(options: RestOptions): FastifyInstance {
  const rewriteUrl = s3Roots(options.s3);
  const app = Fastify({
    logger: false,
    ...(rewriteUrl === undefined ? {} : { rewriteUrl }),
    trustProxy: options.trustProxy,
    serverFactory: (handle) => options.connections.server(handle),
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
    clientErrorHandler: (error, socket) => options.connections.end(socket, error),
  });
  app.addConstraintStrategy(bodyConstraint);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: Buffer) => void) => done(null, body),
  );
  app.decorateRequest('slot', null as unknown as CallSlot);
  const routes = new RouteTable(options.planned);
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const path of config?.paths ?? [url]) routes.add(method, path);
  });
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(everywhere);
    const doubled = doubledHeader(request.raw.rawHeaders);
    if (doubled !== null) return done(doubledRefusal(doubled));
    if (answerOf(reply).upgrade !== null && !request.is404 && request.routeOptions.config.takesSockets !== true)
      return done(noSocketHere());
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
  const { traffic } = options;
  app.route({
    method: endpoint.capability.method,
    url: urlOf(endpoint.capability.path),
    bodyLimit: endpoint.bodyBytesMax,
    onRequest: async (request, reply) => {
      const gateway = options.gateway();
      if (gateway === null)
        throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, message: 'The service is starting or stopping.' });
      const arrived = new CallRequest(request, reply);
      const call = new Call(gateway, endpoint, arrived);
      const slot = slotOf(request);
      slot.arrived = arrived;
      slot.call = call;
      if (endpoint.capability.answersSecret !== undefined) call.headers['cache-control'] = 'no-store';
      const place = occupy(traffic, call, slot, reply);
      call.setPrincipal(await identify(gateway, bearer(arrived), arrived.remoteAddress, () => withoutBearer(arrived)));
      await admit(gateway, call);
      claim(traffic, place, call.accountId, reply);
    },
    preParsing: (request, reply, payload, done) =>
      done(null, receiving(options, request, reply, payload as Readable, endpoint.capability.bulk !== undefined)),
    handler: async (request, reply) => {
      const gateway = options.gateway();
      const slot = slotOf(request);
      const { arrived, call, place } = slot;
      if (gateway === null || arrived === undefined || call === undefined || place === undefined)
        throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
      if (slot.refused === true) return undefined;
      const runs = traffic.run(place, answerOf(reply).waitedMs);
      if (runs !== true && !(await runs)) return undefined;
      slot.handling = true;
      try {
        await confirm(call);
        if (endpoint.capability.gates !== undefined) await passGates(call);
        const body = request.body as Buffer<ArrayBuffer> | undefined;
        call.weigh(Math.floor((body?.length ?? 0) / tokenWorth.bodyBytes));
        call.bytesIn = body?.length ?? null;
        call.body = shortBody(body);
        await readRequest(call, gateway, arrived, slot.blocks?.blocks ?? (body === undefined ? [] : [body]));
        const answer = await run(gateway, call);
        // Written before its status is set: data that JSON cannot hold is a failure, and told as one.
        const text = options.envelope().success(call, answer);
        call.weigh(Math.floor(text.length / tokenWorth.answerBytes));
        const sent = text.length > LONG_CHARACTERS ? await encodedInTurn(text) : text;
        finish(call, reply, 200, text);
        return reply.send(sent);
      } finally {
        slot.handling = false;
        if (slot.closed === true) call.release();
      }
    },
  });
}

/** The bytes of a long answer; other calls go before and after. */
async function encodedInTurn(text: string): Promise<Buffer> {
  await turn();
  const bytes = Buffer.from(text);
  await turn();
  return bytes;
}

/** Nothing that could be a key: an empty header, `Bearer` alone, or another scheme. */
const NO_KEY = /^\s*(?:Bearer\s*|(?!Bearer\s)[^\s]+\s+[^\s].*)?$/i;

/** UNAUTHORIZED when no key was sent, INVALID_API_KEY when one stands there in the wrong form. */
function withoutBearer({ headers: { authorization } }: CallRequest): Problem {
  if (authorization === undefined) return problem('UNAUTHORIZED', { message: 'The Authorization header is missing.' });
  const message = 'The Authorization header is not `Bearer <API_KEY>`.';
  return problem(NO_KEY.test(authorization) ? 'UNAUTHORIZED' : 'INVALID_API_KEY', { message });
}

function carriesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function endpointLimit(request: FastifyRequest): number {
  return request.routeOptions.bodyLimit;
}
