// An outbound client whose requests are spans, from the DNS look-up to the last byte of the response. Of a URL only scheme, host and port are
// recorded: webhook paths and vendor queries hold keys. Users' URLs get a traceparent header, vendors do not.
import type {
  OutboundClient,
  OutboundOutcome,
  OutboundPost,
  OutboundReply,
  OutboundRequest,
  OutboundTunnel,
  TunnelReply,
} from '../../vendors/http/port.ts';
import type { Attributes, Span, Tracing } from './tracing.ts';

export class TracedOutbound implements OutboundClient {
  readonly #client: OutboundClient;
  readonly #tracing: Tracing;

  constructor(client: OutboundClient, tracing: Tracing) {
    this.#client = client;
    this.#tracing = tracing;
  }

  checkUrl(...asked: Parameters<OutboundClient['checkUrl']>): Promise<string | null> {
    return this.#client.checkUrl(...asked);
  }

  async post(request: OutboundPost): Promise<OutboundOutcome> {
    const span = this.#tracing.begin(this.#tracing.current);
    const outcome = await this.#client.post({ ...request, headers: withTraceparent(request.headers, span) });
    endRequest(span, { method: 'POST', url: request.url }, outcome);
    return outcome;
  }

  async send(request: OutboundRequest): Promise<OutboundReply> {
    const span = this.#tracing.begin(this.#tracing.current);
    const reply = await this.#client.send(request);
    if (reply.kind === 'failed') {
      endRequest(span, request, reply);
      return reply;
    }
    // Its reader closes it in any case: at its end, or early.
    reply.body.once('close', () => endRequest(span, request, reply, reply.body.errored));
    return reply;
  }

  /** What passes through a tunnel is no request of this service. */
  openTunnel(request: OutboundTunnel): Promise<TunnelReply> {
    return this.#client.openTunnel(request);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** A header that the owner of the address has named counts. */
function withTraceparent(
  headers: Readonly<Record<string, string>>,
  { traceparent }: Span,
): Readonly<Record<string, string>> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent');
  return isNamed ? headers : { ...headers, traceparent };
}

/** Attributes by OpenTelemetry's conventions of HTTP clients (opentelemetry.io/docs/specs/semconv/http/http-spans). */
function endRequest(
  span: Span,
  { method, url }: { readonly method: string; readonly url: string },
  ended: OutboundOutcome | OutboundReply,
  broken: Error | null = null,
): void {
  const status = ended.kind === 'answered' ? ended.status : null;
  const errorType = ended.kind === 'failed' ? ended.code : broken !== null ? codeOf(broken) : failureStatus(status);
  span.end({
    name: method,
    kind: 'client',
    isError: errorType !== null,
    attributes: {
      'http.request.method': method,
      ...placeOf(url),
      'http.response.status_code': status,
      'error.type': errorType,
    },
  });
}

function placeOf(url: string): Attributes {
  const at = URL.parse(url);
  if (at === null) return {};
  const scheme = at.protocol.slice(0, -1);
  const port = at.port === '' ? (scheme === 'https' ? 443 : 80) : Number(at.port);
  return { 'url.scheme': scheme, 'server.address': at.hostname, 'server.port': port };
}

function failureStatus(status: number | null): string | null {
  return status !== null && status >= 400 ? String(status) : null;
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
