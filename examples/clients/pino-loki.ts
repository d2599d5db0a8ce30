// pino with its transport for Loki (npm install pino pino-loki): only host and password are ours. What waits is sent when the program ends.
import pino from 'pino';

const { QM_URL = 'http://127.0.0.1:8787', QM_KEY = '' } = process.env;
const transport = pino.transport({
  target: 'pino-loki',
  options: {
    host: `${QM_URL}/v1/logs/`,
    basicAuth: { username: 'logs', password: QM_KEY },
    labels: { service: 'shop' },
  },
});
pino(transport).info({ order: 17 }, 'order shipped');
console.log('logged');
