// Metrics of resources that run out on the host: free disk space, and the certificate's lifetime. They are measured at each scrape.
import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import type { TlsSettings } from '../../config/tls.ts';

export interface Host {
  readonly dataDir: string;
  readonly tls: TlsSettings | null;
}

/** Of several processes the least counts: each tells the same. */
export function addHostMetrics(registry: Registry, { dataDir, tls }: Host): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      aggregator: 'min',
      registers: [registry],
      async collect() {
        this.set(await read().catch(() => 0));
      },
    });
  gauge('qm_data_free_bytes', 'Room on the disk of DATA_DIR; 0 when there is no such folder.', async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize;
  });
  if (tls === null) return;
  gauge('qm_tls_certificate_ends_timestamp_seconds', 'When TLS_CERT ends; 0 when it cannot be read.', async () => {
    const { validTo } = new X509Certificate(await readFile(tls.certFile));
    return Date.parse(validTo) / 1_000;
  });
}
