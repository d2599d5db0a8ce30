// OpenTelemetry's exporter of metrics (npm install @opentelemetry/sdk-metrics @opentelemetry/exporter-metrics-otlp-proto): only address and key are ours.
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const exporter = new OTLPMetricExporter({
  url: `${QM_URL}/v1/metrics`,
  headers: { Authorization: `Bearer ${QM_KEY}` },
});
const provider = new MeterProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop' }),
  readers: [new PeriodicExportingMetricReader({ exporter })],
});
provider.getMeter('shop').createCounter('orders').add(3, { pay: 'card' });
await provider.shutdown();

// The same as Grafana and Prometheus' own clients ask.
const found = await fetch(`${QM_URL}/v1/metrics/prometheus/api/v1/query?query=orders_total`, {
  headers: { Authorization: `Bearer ${QM_KEY}` },
});
const { data } = (await found.json()) as { data: { result: { metric: { job: string }; value: [number, string] }[] } };
console.log(data.result[0]?.metric.job, data.result[0]?.value[1]);
