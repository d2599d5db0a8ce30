// The command line as a process: what runs in it is loaded after the compile cache is on.
import module from 'node:module';
import { load } from './load.js';

module.enableCompileCache?.();
await load('qm', () => import('./cli/main.ts'));
