import { expect, test } from 'vitest';
import { isOwnCode } from './own-code.ts';

test.each([
  '/app/node_modules/express/lib/router.js',
  'node_modules/http-kit/index.js',
  'C:\\shop\\node_modules\\pg\\lib\\client.js',
  'webpack://shop/node_modules/react-dom/index.js',
  'node:internal/process/task_queues',
  'internal/modules/cjs/loader.js',
  '/srv/venv/lib/python3.12/site-packages/django/core/handlers.py',
  '/usr/lib/python3/dist-packages/requests/api.py',
  '/usr/lib/python3.12/asyncio/base_events.py',
  '/usr/local/bundle/gems/rack-3.0.8/lib/rack/head.rb',
  '/root/go/pkg/mod/github.com/gin-gonic/gin/context.go',
  '/rustc/90b35a623/library/core/src/panicking.rs',
])('%s is not of the program', (file) => {
  expect(isOwnCode(file)).toBe(false);
});

test.each([
  '/app/src/order.js',
  'Pay.java',
  'app/models/gems.rb',
  'src/node_modules.ts',
  'lib/python/shop.py',
  'internal/shop/order.go',
  '',
])('%s is', (file) => {
  expect(isOwnCode(file)).toBe(true);
});
