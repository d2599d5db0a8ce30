// The example as its README runs it: a page with a chart and a table.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PdfBench } from '../pdf/harness.ts';
import { PROJECT } from '../support/process.ts';

let bench: PdfBench;
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-report-'));
beforeAll(async () => {
  bench = await PdfBench.start();
});
afterAll(async () => {
  await bench?.service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a report of one page, with its chart and its table', async () => {
  const env = { PATH: process.env.PATH ?? '', QM_URL: bench.service.url, QM_KEY: bench.secret };
  const file = join(folder, 'report.pdf');
  const program = join(PROJECT, 'examples/report/report.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, file], { env });
  expect(stdout).toBe(`${file}: 1 page\n`);
  const [text] = await bench.text(readFileSync(file).toString('base64'));
  expect(text).toMatch(/Sales of half a year[\s\S]*27\.8[\s\S]*Page 1 of 1/);
});
