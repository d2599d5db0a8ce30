// OpenTelemetry's exporter of logs (npm install @opentelemetry/sdk-logs @opentelemetry/exporter-logs-otlp-proto): only address and key are ours.
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY } = process.env;
const exporter = new OTLPLogExporter({ url: `${QM_URL}/v1/logs`, headers: { Authorization: `Bearer ${QM_KEY}` } });
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop' }),
  processors: [new BatchLogRecordProcessor({ exporter })],
});
provider.getLogger('orders').emit({
  severityText: 'WARN',
  body: 'stock is low',
  attributes: { article: 'teapot', left: 2 },
});
await provider.shutdown();

const found = await fetch(`${QM_URL}/v1/logs/search?service=shop&attributes.article=teapot`, {
  headers: { Authorization: `Bearer ${QM_KEY}` },
});
const { data } = (await found.json()) as { data: { items: { level: string; message: string }[] } };
console.log(data.items[0]?.level, data.items[0]?.message);
