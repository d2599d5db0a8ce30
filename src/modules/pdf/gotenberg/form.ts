// Gotenberg's multipart forms: files and fields. A field is served, ignored because it makes no difference, or refused by name.
import type { BodyTask } from '../../../kit/raw-route.ts';
import { readFormData } from '../../../lib/form-data.ts';
import { problem } from '../../../problems/problem.ts';
import type { Asset } from '../engine/wire.ts';
import { FILE_BYTES_MAX } from '../limits.ts';

export const FORM_BYTES_MAX = FILE_BYTES_MAX + 256 * 1024;
const PARTS_MAX = 120;
const VALUE_CHARACTERS_MAX = 10_000;

export interface GotenbergForm {
  readonly files: readonly Asset[];
  readonly fields: Readonly<Record<string, string>>;
}

/** How long to wait, what to be strict about, and what here is always so. */
const INDIFFERENT =
  /^(?:waitDelay|waitForExpression|waitForSelector|waitWindowStatus|userAgent|skipNetwork\w+|failOn\w+|ignoreResource\w+|printBackground|generateTaggedPdf|preferCssPageSize|emulatedMediaFeatures)$/;
/** Of a field that asks for nothing. */
const NOTHING = ['', 'false', '{}', '[]', 'null'];

export const readGotenbergForm: BodyTask<GotenbergForm> = {
  source: import.meta.url,
  id: 'pdf.gotenberg.form',
  run(body) {
    const parts = readFormData(body, PARTS_MAX);
    if (parts === null) throw invalid('The body is no form as its Content-Type says, or has too many parts.');
    const files: Asset[] = [];
    const fields: Record<string, string> = {};
    for (const { name, isFile, filename, bytes } of parts) {
      if (isFile && name === 'files') files.push({ name: filename, bytes: new Uint8Array(bytes) });
      else if (isFile) throw unsupportedField(name);
      else if (/^[A-Za-z]{1,60}$/.test(name)) fields[name] = bytes.toString('utf8', 0, VALUE_CHARACTERS_MAX);
    }
    return { files, fields };
  },
};

/** Throws INVALID_REQUEST for a field that asks for what is not done here. */
export function requireServed({ fields }: GotenbergForm, served: readonly string[]): void {
  for (const [name, value] of Object.entries(fields))
    if (!served.includes(name) && !INDIFFERENT.test(name) && !NOTHING.includes(value.trim()))
      throw unsupportedField(name);
}

export function invalid(message: string) {
  return problem('INVALID_REQUEST', { message });
}

function unsupportedField(name: string) {
  return problem('INVALID_REQUEST', {
    message: `Form field '${name.slice(0, 60)}' is not supported here.`,
    param: name,
  });
}
