import { expect, test } from 'vitest';
import { tracingSettings } from './tracing.ts';
import { ConfigError, Variables } from './variables.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
const settings = (env: Record<string, string> = {}) => tracingSettings(new Variables({ ...ENDPOINT, ...env }));

test('without an endpoint there are no traces', () => {
  expect(tracingSettings(new Variables({ OTEL_SERVICE_NAME: 'x' }))).toBeNull();
  expect(settings({ OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
  expect(settings({ OTEL_SDK_DISABLED: 'True' })).toBeNull();
});

test('an endpoint is enough', () => {
  expect(settings()).toEqual({
    url: 'http://collector:4318/v1/traces',
    headers: {},
    resource: { 'service.name': 'quartermaster' },
    sampling: { ratio: 1, followsCaller: true },
  });
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp' })?.url).toBe(
    'https://a.example/otlp/v1/traces',
  );
});

test('lists of names and values are percent-decoded, and OTEL_SERVICE_NAME counts more than the list', () => {
  expect(settings({ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-a=b=c,' })?.headers).toEqual({
    Authorization: 'Basic YTpi',
    'x-a': 'b=c',
  });
  const OTEL_RESOURCE_ATTRIBUTES = 'service.name=one,team=a%2Cb';
  expect(settings({ OTEL_RESOURCE_ATTRIBUTES })?.resource).toEqual({ 'service.name': 'one', team: 'a,b' });
  const named = settings({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: 'two' });
  expect(named?.resource['service.name']).toBe('two');
});

test.each([
  ['always_on', '0.5', 1, false],
  ['always_off', '0.5', 0, false],
  ['traceidratio', '0.5', 0.5, false],
  ['parentbased_always_on', '0.5', 1, true],
  ['parentbased_always_off', '0.5', 0, true],
  ['parentbased_traceidratio', '0.25', 0.25, true],
  ['parentbased_traceidratio', '', 1, true],
])('OTEL_TRACES_SAMPLER=%s, _ARG=%s', (sampler, ratio, wanted, followsCaller) => {
  const given = settings({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio });
  expect(given?.sampling).toEqual({ ratio: wanted, followsCaller });
});

test.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'thrift' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'a secret' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'x=%secret' },
  { OTEL_TRACES_SAMPLER: 'sometimes' },
  { OTEL_TRACES_SAMPLER_ARG: '1.5' },
  { OTEL_TRACES_SAMPLER_ARG: '.' },
])('%j is refused by one line that names the variable and no secret', (env) => {
  const [name = ''] = Object.keys(env);
  expect(() => settings(env as unknown as Record<string, string>)).toThrow(ConfigError);
  expect(() => settings(env as unknown as Record<string, string>)).toThrow(new RegExp(`^${name}\\b(?!.*secret).*$`));
});
