// Parser of multipart/form-data (RFC 7578), as browsers and SDKs send it, with few parts. Long parts are not copied.

export interface FormPart {
  readonly name: string;
  readonly isFile: boolean;
  /** As it was sent; empty when it has none. */
  readonly filename: string;
  readonly bytes: Buffer;
}

const CRLF = '\r\n';
const BOUNDARY_CHARACTERS_MAX = 72;
const HEAD_BYTES_MAX = 4_096;
const NAME = /^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"\r\n]{1,100})"/im;
const FILE_NAME = /^content-disposition:[^\r\n]*;\s*filename(?:="([^"\r\n]{0,255})"|\*?=)/im;

/** Null: it is no such form, or has more parts. The boundary is the body's first line. */
export function readFormData(body: Buffer, partsMax: number): readonly FormPart[] | null {
  const first = body.indexOf(CRLF);
  if (first < 3 || first > BOUNDARY_CHARACTERS_MAX || body.toString('latin1', 0, 2) !== '--') return null;
  const delimiter = Buffer.concat([Buffer.from(CRLF), body.subarray(0, first)]);
  const parts: FormPart[] = [];
  for (let at = first; ; ) {
    const end = body.toString('latin1', at, at + 2);
    if (end === '--') return parts;
    if (end !== CRLF || parts.length === partsMax) return null;
    const headEnd = body.indexOf(CRLF + CRLF, at);
    if (headEnd === -1 || headEnd - at > HEAD_BYTES_MAX) return null;
    const bytesEnd = body.indexOf(delimiter, headEnd + 4);
    const head = body.toString('utf8', at, headEnd);
    const name = NAME.exec(head)?.[1];
    if (bytesEnd === -1 || name === undefined) return null;
    const file = FILE_NAME.exec(head);
    const bytes = body.subarray(headEnd + 4, bytesEnd);
    parts.push({ name, isFile: file !== null, filename: file?.[1] ?? '', bytes });
    at = bytesEnd + delimiter.length;
  }
}
