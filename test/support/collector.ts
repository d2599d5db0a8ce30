// A collector of traces: a real HTTP server that takes OTLP in JSON, and keeps the spans.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  /** By key; numbers as numbers. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number };
}

interface Any {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

type KeyValues = readonly { readonly key: string; readonly value: Any }[];

export const KIND = { internal: 1, server: 2, client: 3 };

export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** Of the service, as the last request told them. */
  resource: Readonly<Record<string, unknown>> = {};
  /** Of the next answers. */
  status = 200;
  answer = '{"partialSuccess":{}}';
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const isKnown = request.method === 'POST' && request.url === '/v1/traces';
        if (isKnown) this.#take(Buffer.concat(parts).toString(), request.headers);
        response.writeHead(isKnown ? this.status : 404, { 'content-type': 'application/json' }).end(this.answer);
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The only one of the name; throws where there are none or several. */
  one(name: string): CollectedSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans ${name}: ${this.spans.map((each) => each.name)}`);
    return found[0] as CollectedSpan;
  }

  childrenOf({ spanId }: CollectedSpan): CollectedSpan[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #take(body: string, headers: IncomingHttpHeaders): void {
    this.bodies.push(body);
    this.headers.push(headers);
    if (this.status !== 200) return;
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      this.resource = attributesOf(resource.attributes);
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: attributesOf(span.attributes) });
      }
    }
  }
}

function attributesOf(attributes: KeyValues): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? doubleValue ?? boolValue ?? Number(intValue),
    ]),
  );
}
