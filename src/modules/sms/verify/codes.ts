// Verification codes: random digits, stored as a keyed hash, compared in constant time.
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../../core/secrets/secrets.ts';

export function newCode(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}

/** Of one verification: the same code of another one has another hash. */
export function hashOfCode(secrets: Secrets, verificationId: string, code: string): Buffer {
  return createHmac('sha256', secrets.derive('sms-code', 32)).update(`${verificationId}\n${code}`).digest();
}

export function isCode(
  secrets: Secrets,
  { verification_id, code_hash }: { verification_id: string; code_hash: Buffer },
  code: string,
): boolean {
  const given = hashOfCode(secrets, verification_id, code);
  return given.length === code_hash.length && timingSafeEqual(given, code_hash);
}
