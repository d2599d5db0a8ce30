// The process. What runs in it is loaded after the compile cache is on. JavaScript, for a first file in TypeScript would bring its
// compiler, 15 MB, into every process: the other files come from the cache as they were compiled at the first start.
import cluster from 'node:cluster';
import module from 'node:module';
import v8 from 'node:v8';
import { load } from './load.js';

// Compiled code is kept between starts: less memory and a faster start (RSS 123 -> 100 MB measured).
module.enableCompileCache?.();
// Almost everything that is allocated while modules load survives, and V8 answers by growing the young generation, which an idle
// process then keeps: 153 MB resident, and 130 when it may not grow before the service is ready. Under load it grows as ever.
v8.setFlagsFromString('--semi-space-growth-factor=1');
if (cluster.isWorker) await load('worker', () => import('./worker.ts')).then(({ serveAsWorker }) => serveAsWorker());
else {
  // Before the rest is loaded, which takes a second or more on a small machine.
  process.stdout.write('Quartermaster is starting ...\n');
  await load('serve', () => import('./serve.ts')).then(({ serve }) => serve());
}
v8.setFlagsFromString('--semi-space-growth-factor=2');
