// Trace export and sampling, by the standard OpenTelemetry variables
// (opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables, …/protocol/exporter).
import { ConfigError, type Variables } from './variables.ts';

export interface TracingSettings {
  /** Where spans are posted. */
  readonly url: string;
  /** Sent with them, such as a key. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the spans say of the service as a whole; `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
}

export interface Sampling {
  /** Of the traces that begin here, from 0 to 1. */
  readonly ratio: number;
  /** A trace that the caller has begun is recorded as the caller says. */
  readonly followsCaller: boolean;
}

const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
const EXPORTERS = ['otlp', 'none'] as const;
const PROTOCOLS = ['http/json', 'http/protobuf', 'grpc'] as const;

/** Null: there are no traces. Throws ConfigError; values of headers are never repeated. */
export function tracingSettings(variables: Variables): TracingSettings | null {
  const endpoint = variables.text('OTEL_EXPORTER_OTLP_ENDPOINT');
  const settings = {
    headers: pairs(variables, 'OTEL_EXPORTER_OTLP_HEADERS'),
    resource: resourceOf(variables),
    sampling: samplingOf(variables),
  };
  const exporter = variables.oneOf('OTEL_TRACES_EXPORTER', EXPORTERS, 'otlp');
  const protocol = variables.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, 'http/json');
  const isDisabled = variables.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (endpoint === undefined || exporter === 'none' || isDisabled) return null;
  if (protocol === 'grpc') {
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: name the port of OTLP over HTTP, usually 4318',
    );
  }
  return { ...settings, url: `${variables.httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', '')}/v1/traces` };
}

function resourceOf(variables: Variables): Record<string, string> {
  const attributes = pairs(variables, 'OTEL_RESOURCE_ATTRIBUTES');
  const name = variables.text('OTEL_SERVICE_NAME') ?? attributes['service.name'] ?? 'quartermaster';
  return { ...attributes, 'service.name': name };
}

function samplingOf(variables: Variables): Sampling {
  const sampler = variables.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  const ratio = ratioOf(variables);
  const followsCaller = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_off')) return { ratio: 0, followsCaller };
  return { ratio: sampler.endsWith('traceidratio') ? ratio : 1, followsCaller };
}

function ratioOf(variables: Variables): number {
  const value = variables.text('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^\d{0,9}(\.\d{0,12})?$/.test(value) ? Number(value) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${JSON.stringify(value)}`);
}

/** `name=value,name=value`, percent-encoded where need be (W3C Baggage, without properties). */
function pairs(variables: Variables, name: string): Record<string, string> {
  const entries = (variables.text(name) ?? '').split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(entries.map((entry) => pairOf(name, entry)));
}

function pairOf(name: string, entry: string): [string, string] {
  const at = entry.indexOf('=');
  const key = entry.slice(0, Math.max(at, 0)).trim();
  if (key === '') throw new ConfigError(`${name} must be a comma-separated list of name=value`);
  const value = entry.slice(at + 1).trim();
  try {
    return [key, decodeURIComponent(value)];
  } catch {
    throw new ConfigError(`${name}: the value of ${key} is not percent-encoded`);
  }
}
