// Runs the benchmarks one after the other: `npm run bench`, or `npm run bench -- publish peers` for some. Each prints its own table.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, release, type } from 'node:os';

const directory = new URL('./', import.meta.url).pathname;
const all = readdirSync(directory)
  .filter((name) => name.endsWith('.ts') && name !== 'run.ts')
  .map((name) => name.replace(/\.ts$/, ''));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`there is no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}\n`);
  process.exit(2);
}
process.stdout.write(
  `${cpus().length} x ${cpus()[0]?.model ?? 'processor'}, ${type()} ${release()}, Node ${process.version}\n`,
);
let failed = false;
for (const name of wanted.length > 0 ? wanted : all) {
  const { status } = spawnSync(process.execPath, [`${directory}${name}.ts`], { stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`${name} ended with ${status}\n`);
    failed = true;
  }
}
process.exit(failed ? 1 : 0);
