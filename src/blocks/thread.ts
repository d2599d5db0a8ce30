// Entry point of a block thread: runs the scan of a query, or merges blocks.
import { getPriority, setPriority } from 'node:os';
import { admission } from '../core/admission.ts';
import { serve } from '../lib/threads.ts';
import { type BlockTask, perform } from './work.ts';

// Calls go first: on Linux this concerns the thread alone.
const niceness = admission.all.bodyThreadNiceness;
if (process.platform === 'linux' && getPriority() < niceness) setPriority(niceness);

serve<BlockTask, unknown>(perform);
