// Parser of ExportLogsServiceRequest in protobuf (opentelemetry-proto 1.7, logs.proto): decodes straight into columns, without an object for
// each record.
import {
  bytesTag,
  endOf,
  fixed64Tag,
  type OtlpReader,
  readAnyValue,
  readHex,
  readNanosAsMs,
  readProtobuf,
  readResource,
  readScope,
  requireEnd,
  skip,
  varintTag,
} from '../../../lib/otlp/protobuf.ts';
import { idOf, type OtlpAttributes, type OtlpBudget, type OtlpValue } from '../../../lib/otlp/values.ts';
import { FOREIGN_RECORDS_MAX } from '../limits.ts';
import { SPAN_HEX, TRACE_HEX } from '../records/stored-log.ts';
import { Intake, type ReadyLogs } from './intake.ts';
import { levelOf, messageOf, resourceMembers, serviceOf } from './otlp-record.ts';

const RESOURCE_LOGS = bytesTag(1);
const RESOURCE = bytesTag(1);
const SCOPE_LOGS = bytesTag(2);
const SCOPE = bytesTag(1);
const RECORD = bytesTag(2);

export function readLogsProtobuf(body: Uint8Array, nowMs: number): ReadyLogs {
  const intake = new Intake(nowMs, FOREIGN_RECORDS_MAX);
  readProtobuf(body, (reader, end, budget) => {
    const sent = new SentLogs(reader, budget, intake);
    eachField(reader, end, RESOURCE_LOGS, (logsEnd) => sent.resourceLogs(logsEnd));
  });
  return intake.ready();
}

/** Reads the messages under one tag; others are passed over. */
function eachField(reader: OtlpReader, end: number, wanted: number, read: (end: number) => void): void {
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === wanted) read(endOf(reader, end));
    else skip(reader, tag);
  }
  requireEnd(reader, end);
}

/** The first message under `wanted`, wherever it stands: what follows is read with it. */
function findField<Result>(
  reader: OtlpReader,
  end: number,
  wanted: number,
  read: (end: number) => Result,
): Result | null {
  const start = reader.pos;
  let found: Result | null = null;
  eachField(reader, end, wanted, (fieldEnd) => {
    found = read(fieldEnd);
  });
  reader.pos = start;
  return found;
}

class SentLogs {
  readonly #reader: OtlpReader;
  readonly #budget: OtlpBudget;
  readonly #intake: Intake;
  #service = '';
  #resource = 0;

  constructor(reader: OtlpReader, budget: OtlpBudget, intake: Intake) {
    this.#reader = reader;
    this.#budget = budget;
    this.#intake = intake;
  }

  resourceLogs(end: number): void {
    const reader = this.#reader;
    const attributes =
      findField(reader, end, RESOURCE, (at) => readResource(reader, at, this.#budget)) ?? (new Map() as OtlpAttributes);
    this.#service = serviceOf(attributes);
    eachField(reader, end, SCOPE_LOGS, (at) => this.#scopeLogs(at, attributes));
  }

  #scopeLogs(end: number, attributes: OtlpAttributes): void {
    const reader = this.#reader;
    const scope = findField(reader, end, SCOPE, (at) => readScope(reader, at, this.#budget));
    this.#resource = this.#intake.resource(resourceMembers(attributes, scope));
    eachField(reader, end, RECORD, (at) => this.#record(at));
  }

  #record(end: number): void {
    const reader = this.#reader;
    let timeMs = 0;
    let observedMs = 0;
    let severity = 0;
    let severityText = '';
    let body: OtlpValue = null;
    let traceId = '';
    let spanId = '';
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case TIME:
          timeMs = readNanosAsMs(reader);
          break;
        case OBSERVED:
          observedMs = readNanosAsMs(reader);
          break;
        case SEVERITY:
          severity = reader.uint32();
          break;
        case SEVERITY_TEXT:
          severityText = reader.string();
          break;
        case BODY:
          body = readAnyValue(reader, endOf(reader, end), this.#budget);
          break;
        case ATTRIBUTE:
          this.#attribute(endOf(reader, end));
          break;
        case TRACE:
          traceId = readHex(reader, end);
          break;
        case SPAN:
          spanId = readHex(reader, end);
          break;
        case EVENT_NAME:
          this.#intake.attribute('event.name', reader.string());
          break;
        default:
          skip(reader, tag);
      }
    }
    requireEnd(reader, end);
    const ids = {
      traceId: traceId.length === TRACE_HEX ? idOf(traceId) : null,
      spanId: spanId.length === SPAN_HEX ? idOf(spanId) : null,
    };
    const time = timeMs || observedMs || this.#intake.nowMs;
    this.#intake.add(time, levelOf(severity, severityText), this.#service, messageOf(body), ids, this.#resource);
  }

  #attribute(end: number): void {
    const reader = this.#reader;
    let name = '';
    let value: OtlpValue = null;
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === KEY) name = reader.string();
      else if (tag === VALUE) value = readAnyValue(reader, endOf(reader, end), this.#budget);
      else skip(reader, tag);
    }
    requireEnd(reader, end);
    this.#intake.attribute(name, value);
  }
}

const TIME = fixed64Tag(1);
const SEVERITY = varintTag(2);
const SEVERITY_TEXT = bytesTag(3);
const BODY = bytesTag(5);
const ATTRIBUTE = bytesTag(6);
const TRACE = bytesTag(9);
const SPAN = bytesTag(10);
const OBSERVED = fixed64Tag(11);
const EVENT_NAME = bytesTag(12);
const KEY = bytesTag(1);
const VALUE = bytesTag(2);
