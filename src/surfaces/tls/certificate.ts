// The certificate and its key, reloaded when their files change. An unusable pair is logged, and the one in use stays.
import { X509Certificate } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsSettings } from '../../config/tls.ts';
import type { Logger } from '../../core/process/logger.ts';
import { StartupError } from '../../db/errors.ts';

const LOOK_EVERY_MS = 2_000;

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** When it ends. */
  readonly untilMs: number;
}

/** Throws StartupError with the setting and what is wrong with its file. */
export function readCertificate({ certFile, keyFile }: TlsSettings): Certificate {
  const [cert, key] = [readPem('TLS_CERT', certFile), readPem('TLS_KEY', keyFile)];
  try {
    createSecureContext({ cert, key });
    return { cert, key, untilMs: Date.parse(new X509Certificate(cert).validTo) };
  } catch (cause) {
    const why = (cause as Error).message.replace(/^error:[^:]*:[^:]*:[^:]*:/, '');
    throw new StartupError(`TLS_CERT and TLS_KEY are not a certificate and its key in PEM: ${why}`, { cause });
  }
}

/** Looks by polling: links and mounts are replaced in ways that the system does not tell of. Answers what ends it. */
export function watchCertificate(
  settings: TlsSettings,
  log: Logger,
  use: (certificate: Certificate) => void,
): () => void {
  const files = [settings.certFile, settings.keyFile];
  const again = () => {
    try {
      const certificate = readCertificate(settings);
      use(certificate);
      log.info({ until: new Date(certificate.untilMs).toISOString() }, 'the TLS certificate was read again');
    } catch (error) {
      log.error(`the TLS certificate in use stays: ${(error as Error).message}`);
    }
  };
  for (const file of files) watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, again);
  return () => {
    for (const file of files) unwatchFile(file, again);
  };
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new StartupError(`${name} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
