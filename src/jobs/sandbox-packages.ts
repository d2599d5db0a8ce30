// Checks for the optional packages that the sandbox needs. They run before a job begins, so the caller learns at once which package is missing.
import { findPackageJSON } from 'node:module';
import { CHINESE_FONT, VIDEO_ENCODER } from '../lib/not-installed.ts';
import { problem } from '../problems/problem.ts';

/** Throws VENDOR_NOT_AVAILABLE when the prompt has Chinese characters and their font is not installed. */
export function requireFontOf(prompt: string): void {
  if (/\p{Script=Han}/u.test(prompt)) requirePackage(CHINESE_FONT, 'Chinese text in the sandbox');
}

/** Throws VENDOR_NOT_AVAILABLE when the encoder of videos is not installed. */
export function requireEncoder(): void {
  requirePackage(VIDEO_ENCODER, 'The video sandbox');
}

function requirePackage(name: string, what: string): void {
  try {
    findPackageJSON(name, import.meta.url);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const message = `${what} needs the optional package ${name}, which is not installed here.`;
    throw problem('VENDOR_NOT_AVAILABLE', { detail: 'not_installed', message });
  }
}
