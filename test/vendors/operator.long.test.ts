// What the operator sees: a start that is refused, the command line, the doctor.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ProcessRegistry } from '../../src/core/process/processes.ts';
import { Database } from '../../src/db/database.ts';
import { bookLoss, bookSale } from '../../src/routing/bills.ts';
import { openVendor } from '../../src/routing/health-store.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { OpenaiDouble } from '../support/ai/openai-double.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, launch, PROJECT } from '../support/process.ts';

const MAIN = join(PROJECT, 'src/cli/main.ts');
/** A command takes a second alone, and many times as long beside other starts. */
const PATIENCE_MS = 240_000;
vi.setConfig({ testTimeout: PATIENCE_MS });
const FAULTY = 'version: 1\nvendors:\n  - { id: acme, adapter: fal, region: moon, models: [] }\n  - { id: auto }\n';

let database: TestDatabase;
let db: Database;
let folder: string;
let path: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  folder = mkdtempSync(join(tmpdir(), 'qm-operator-'));
  path = join(folder, 'vendors.yaml');
});
afterAll(async () => {
  await db.end();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function qm(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: database.url, DATA_DIR: folder };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'vendors', ...args], { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code as unknown as number), stdout, stderr });
    });
  });
}

describe('a service whose file has faults', () => {
  test.each(['1', '2'])('does not start: every fault with its line, exit code 78 (WORKERS=%s)', async (workers) => {
    writeFileSync(path, FAULTY);
    const place = await createPlace({ WORKERS: workers, DATABASE_URL: database.url, VENDORS_FILE: path });
    try {
      const started = launch(place);
      expect(await started.exited).toEqual({ code: 78, signal: null });
      const lines = started.stderr().trimEnd().split('\n');
      expect(lines[0]).toMatch(/^quartermaster: VENDORS_FILE has \d+ faults$/);
      expect(lines).toContain(`  ${path}:4:5: vendors[1].adapter: It is missing.`);
    } finally {
      await place.remove();
    }
  });
});

describe('qm vendors', () => {
  test('check lists every fault, exit code 78', async () => {
    writeFileSync(path, FAULTY);
    const { code, stdout } = await qm('check', '--json');
    expect(code).toBe(78);
    const { ok, faults } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(faults).toContainEqual({ line: 4, column: 5, field: 'vendors[1].adapter', message: 'It is missing.' });
    expect((await qm('check')).stdout).toContain(`${path}:4:5: vendors[1].adapter: It is missing.\n`);
    expect(await qm('list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('qm vendors check lists all faults'),
    });
  });

  test('check of no file says so, list shows the sandbox at most', async () => {
    rmSync(path, { force: true });
    expect(await qm('check')).toMatchObject({ code: 0, stdout: `${path} is not there: the sandbox serves alone\n` });
    expect((await qm('list')).stdout).toMatch(/^VENDOR +MODEL/);
  });

  test('list says who is down and why', async () => {
    await openVendor(db, 'sandbox', 'video.generate', 'VENDOR_AUTH_ERROR', 60_000);
    const { vendors } = JSON.parse((await qm('list', '--json')).stdout);
    expect(vendors).toMatchObject([
      { vendor: 'sandbox', health: [{ capability: 'video.generate', state: 'open', reason: 'VENDOR_AUTH_ERROR' }] },
    ]);
  });

  test('costs adds up what was sold and what was lost', async () => {
    const nowMs = Date.now();
    const bill = { accountId: 'acct_1', vendor: 'acme', billedNanos: 1_000_000_000n };
    await bookSale(db, { ...bill, capturedNanos: 1_050_000_000n }, nowMs);
    await bookLoss(db, { ...bill, cause: 'outcome_unknown' }, nowMs);
    await bookLoss(db, { ...bill, vendor: 'bolt', cause: 'late' }, nowMs);
    const { items, lost_usd } = JSON.parse((await qm('costs', '--vendor', 'acme', '--json')).stdout);
    const day = new Date(nowMs).toISOString().slice(0, 10);
    const common = { day, vendor: 'acme', bills: 1, billed_usd: 1 };
    expect(items).toEqual([
      { ...common, cause: 'outcome_unknown', captured_usd: 0 },
      { ...common, cause: 'sold', captured_usd: 1.05 },
    ]);
    expect(lost_usd).toBe(1);
    expect((await qm('costs')).stdout).toMatch(/lost: 2 USD\n$/);
  });

  describe('test of a language model makes one small call, once', () => {
    let double: OpenaiDouble;
    beforeAll(async () => {
      double = await OpenaiDouble.start('Hello.');
      const model = (id: string, further: object) => ({ id, price: { input: 1, output: 2 }, ...further });
      const models = [
        model('chat', { serves: ['ai.chat'] }),
        model('vectors', { dimensions: 3, default_embedding: true }),
        model('misread', { dimensions: 1_536 }),
        model('quick', { serves: ['ai.chat'], timeouts: { total_ms: 3_000 } }),
      ];
      const vendor = { id: 'acme', adapter: 'openai', region: 'western', base_url: double.url, models };
      writeFileSync(path, JSON.stringify({ version: 1, vendors: [vendor] }));
    });
    afterAll(async () => {
      rmSync(path, { force: true });
      await double.stop();
    });
    afterEach(() => double.reset());

    const tried = async (model: string) => {
      const { code, stdout } = await qm('test', '--vendor', 'acme', '--model', model, '--json');
      return { code, message: JSON.parse(stdout).message };
    };

    test.each([
      ['chat', 0, 'it answered: 10 tokens in, 5 out; by its price 0.00002 USD'],
      ['vectors', 0, 'it made a vector of 3 numbers: 1 tokens in, 0 out; by its price 0.000001 USD'],
      ['misread', 1, 'its vectors have 3 numbers; the row says 1536; by its price 0.000001 USD'],
    ])('of %s, and says what it costs', async (model, code, message) => {
      expect(await tried(model)).toEqual({ code, message });
      expect(double.seen.map(({ body }) => [body.model, body.max_tokens])).toEqual([
        [model, model === 'chat' ? 16 : undefined],
      ]);
    });

    test('a refusal is told with the words of the vendor, and silence ends', async () => {
      double.next({ status: 401, body: { error: { message: 'no such key', code: 'invalid_api_key' } } });
      expect(await tried('chat')).toEqual({
        code: 1,
        message: expect.stringMatching(/^VENDOR_AUTH_ERROR: .*no such key/),
      });
      double.next('silence');
      expect(await tried('quick')).toEqual({ code: 1, message: 'it said nothing within 3000 ms' });
      expect(double.seen).toHaveLength(2);
    });
  });

  test('test of a model that is not there fails', async () => {
    expect(await qm('test', '--vendor', 'acme')).toMatchObject({
      code: 1,
      stderr: 'qm: VENDORS_FILE has no model acme/\n',
    });
  });

  test('test of a vendor whose key is missing calls nobody', async () => {
    const model = '{ id: wan, price: free, seconds: { only: [5] } }';
    const entry = `{ id: bolt, adapter: fal, region: western, api_key: "\${QM_NO_KEY}", models: [${model}] }`;
    writeFileSync(path, `version: 1\nvendors:\n  - ${entry}\n`);
    expect(await qm('test', '--vendor', 'bolt')).toMatchObject({
      code: 1,
      stderr: 'qm: bolt is not called: its key is missing\n',
    });
    rmSync(path);
  });
});

describe('the doctor', () => {
  const findings = async () =>
    (await examine({ db, secrets: null, modules: [] })).findings.map(({ message }) => message);

  test('names processes whose files of vendors differ', async () => {
    const [one, two] = ['one', 'two'].map((id) => new ProcessRegistry(db, id, ['web'], 'aaaa'));
    await one?.beat();
    await two?.beat();
    expect(await findings()).toEqual([]);
    await new ProcessRegistry(db, 'three', ['web'], 'bbbb').beat();
    expect(await findings()).toEqual([
      'processes work with different VENDORS_FILEs: one, two with aaaa; three with bbbb',
    ]);
  });
});
