// Loaded before a process of the service: it has the parlor too. The bundle has a list of modules of its own, so `--sources` goes with it.
import { modules } from '../../src/modules/index.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

(modules as unknown[]).push(parlorModule(emptyParlor()));
process.argv.push('--sources');
