// winston with its transport for Loki (npm install winston winston-loki): only host and password are ours.
import winston from 'winston';
import LokiTransport from 'winston-loki';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const loki = new LokiTransport({
  host: `${QM_URL}/v1/logs`,
  basicAuth: `logs:${QM_KEY}`,
  labels: { service: 'shop' },
  interval: 1,
  gracefulShutdown: false,
});
const logger = winston.createLogger({ transports: [loki] });
logger.warn('stock is low', { article: 'teapot', left: 2 });
await loki.flush();
console.log('sent');
process.exit();
