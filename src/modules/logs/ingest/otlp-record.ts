// Translates OTLP log records to ours, the same for JSON and protobuf.
import type { OtlpAttributes, OtlpScope, OtlpValue } from '../../../lib/otlp/values.ts';
import { UNKNOWN_SERVICE } from '../limits.ts';
import { INFO, levelOfSeverity, levelOfWord } from '../records/levels.ts';

const SERVICE_NAME = 'service.name';

export function serviceOf(resource: OtlpAttributes): string {
  const name = resource.get(SERVICE_NAME);
  return typeof name === 'string' && name !== '' ? name : UNKNOWN_SERVICE;
}

export function levelOf(severity: number, text: string): number {
  return levelOfSeverity(severity) ?? levelOfWord(text) ?? INFO;
}

/** A body that is no text is its JSON. */
export function messageOf(body: OtlpValue): string {
  if (body === null) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** What all records of a resource and scope share: the attributes of both, and the scope's name as OpenTelemetry names it where there are no scopes. */
export function* resourceMembers(
  resource: OtlpAttributes,
  scope: OtlpScope | null,
): Generator<readonly [string, OtlpValue]> {
  for (const pair of resource) if (pair[0] !== SERVICE_NAME) yield pair;
  if (scope === null) return;
  yield* scope.attributes;
  if (scope.name !== '') yield ['otel.scope.name', scope.name];
  if (scope.version !== '') yield ['otel.scope.version', scope.version];
}
