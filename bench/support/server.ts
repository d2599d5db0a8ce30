// The service under test, as a process of its own: with the no-op module, accounts with plenty of credit, and nothing else special.
// Prints one line of JSON when it is ready; ends when its standard input closes.
import { startService } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createAccount, lockCaller } from '../../src/core/accounts/accounts.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { createLog } from '../../src/core/process/log.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { NANOS_PER_USD } from '../../src/lib/money.ts';
import { benchModule } from './noop-module.ts';

const accounts = Number(process.argv[2] ?? 1);
const dataDir = process.argv[3] as string;
const rateLimits = process.argv[4] as string;
const config = loadConfig({
  PORT: '0',
  DATA_DIR: dataDir,
  RATE_LIMITS: rateLimits,
  LOG_LEVEL: 'error',
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  VECTOR_MEMORY_MB: '6144',
});
const service = await startService(config, { log: createLog('error'), extraModules: [benchModule] });
const { db } = service.core;
const made: { accountId: string; secret: string }[] = [];
for (let i = 0; i < accounts; i += 1) {
  made.push(
    await db.transaction(async (tx) => {
      const accountId = await createAccount(tx, {});
      await grantCredit(tx, accountId, {
        kind: 'paid',
        amountNanos: 1_000_000n * NANOS_PER_USD,
        expiresInMs: null,
        note: null,
      });
      const nowMs = await lockCaller(tx, accountId);
      const { secret } = await createKey(
        tx,
        service.core.secrets,
        accountId,
        { name: null, scopes: null, expiresAtMs: null, cap: null },
        nowMs,
      );
      return { accountId, secret };
    }),
  );
}
process.stdout.write(`${JSON.stringify({ url: service.baseUrl, pid: process.pid, accounts: made })}\n`);
process.stdin.resume();
process.stdin.on('end', () => {
  void service.stop().then(() => process.exit(0));
});
