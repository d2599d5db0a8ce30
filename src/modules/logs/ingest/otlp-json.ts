// Parser of OTLP's ExportLogsServiceRequest in JSON.

import { jsonOfBody } from '../../../kit/telemetry.ts';
import {
  anyValueOf,
  attributesOf,
  listOf,
  membersOf,
  nanosAsMs,
  numberOf,
  resourceOf,
  scopeOf,
  textOf,
} from '../../../lib/otlp/json.ts';
import { idOf, OtlpBudget } from '../../../lib/otlp/values.ts';
import { FOREIGN_RECORDS_MAX } from '../limits.ts';
import { SPAN_HEX, TRACE_HEX } from '../records/stored-log.ts';
import { Intake, type ReadyLogs } from './intake.ts';
import { levelOf, messageOf, resourceMembers, serviceOf } from './otlp-record.ts';

export function readLogsJson(body: Buffer, nowMs: number): ReadyLogs {
  const intake = new Intake(nowMs, FOREIGN_RECORDS_MAX);
  const budget = new OtlpBudget();
  const { resourceLogs } = membersOf(jsonOfBody(body), 'the body');
  for (const each of listOf(resourceLogs, 'resourceLogs')) {
    const { resource, scopeLogs } = membersOf(each, 'an entry of resourceLogs');
    const attributes = resourceOf(resource, budget);
    const service = serviceOf(attributes);
    for (const logs of listOf(scopeLogs, 'scopeLogs')) {
      const { scope, logRecords } = membersOf(logs, 'an entry of scopeLogs');
      const members = resourceMembers(attributes, scope === undefined ? null : scopeOf(scope, budget));
      const shared = intake.resource(members);
      for (const record of listOf(logRecords, 'logRecords')) take(intake, record, service, shared, budget);
    }
  }
  return intake.ready();
}

function take(intake: Intake, sent: unknown, service: string, resource: number, budget: OtlpBudget): void {
  const record = membersOf(sent, 'an entry of logRecords');
  for (const [name, value] of attributesOf(record.attributes, 'attributes', budget)) intake.attribute(name, value);
  const eventName = textOf(record.eventName, 'eventName');
  if (eventName !== '') intake.attribute('event.name', eventName);
  const time =
    nanosAsMs(record.timeUnixNano, 'timeUnixNano') ||
    nanosAsMs(record.observedTimeUnixNano, 'observedTimeUnixNano') ||
    intake.nowMs;
  const level = levelOf(severityOf(record.severityNumber), textOf(record.severityText, 'severityText'));
  const body = record.body === undefined || record.body === null ? null : anyValueOf(record.body, budget);
  const ids = { traceId: idFrom(record.traceId, TRACE_HEX), spanId: idFrom(record.spanId, SPAN_HEX) };
  intake.add(time, level, service, messageOf(body), ids, resource);
}

const SEVERITY_NAME = /^SEVERITY_NUMBER_([A-Z]+)(\d?)$/;

/** A number, or its name in the enumeration. */
function severityOf(value: unknown): number {
  const name = typeof value === 'string' ? SEVERITY_NAME.exec(value) : null;
  if (name === null) return numberOf(value, 'severityNumber');
  const first = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].indexOf(name[1] as string);
  return first === -1 ? 0 : first * 4 + Number(name[2] || 1);
}

/** As in protobuf, an ID of another length is none. */
function idFrom(value: unknown, digits: number): string | null {
  const text = textOf(value, 'an ID').toLowerCase();
  return text.length === digits && /^[0-9a-f]*$/.test(text) ? idOf(text) : null;
}
