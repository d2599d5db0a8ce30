// A vendor in a process of its own whose answers and videos have no end. Says on standard output where it is, and ends with its parent.
import { startVendor } from './vendors/double.ts';
import { falWire } from './vendors/wires.ts';

const double = await startVendor(falWire, { video: 'endless' });
double.script('poll', ...Array.from({ length: 10_000 }, () => 'endless' as const));
const { baseUrl, key, assetHost } = double;
process.stdout.write(`${JSON.stringify({ baseUrl, key, assetHost })}\n`);
process.stdin.resume().on('end', () => process.exit());
