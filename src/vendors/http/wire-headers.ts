// Final check of headers before they are sent. Users' headers were checked when they were set; this check covers every caller.
import { OutboundError } from './failure.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Nothing that could end the line; it may be empty (RFC 9110, section 5.5). */
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const VALUE_BYTES_MAX = 4096;
/** The client's own: they say where a message goes and where it ends. */
const FRAMING = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);

/** @throws OutboundError `protocol` for a header that is not sent. */
export function checkWireHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const isSendable =
      NAME.test(name) && !FRAMING.has(name.toLowerCase()) && value.length <= VALUE_BYTES_MAX && VALUE.test(value);
    if (!isSendable)
      throw new OutboundError('protocol', 'The request cannot be sent: one of its headers is not valid.');
  }
}
