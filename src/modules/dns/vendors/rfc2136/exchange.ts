// Sends one signed request to a name server by TCP, and reads the messages that answer it. Everything is bounded: time, bytes and messages.
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { frameOf, framesOf } from '../../wire/frames.ts';
import { Malformed, type Message, rcodeName, readMessage } from '../../wire/message.ts';
import { VendorFault } from '../port.ts';
import { AnswerCheck, BadSignature, sign, signatureOf, type TsigKey } from './tsig.ts';

/** A zone of 10,000 records of the usual length takes 0.5 MB. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const EXCHANGE_MS = 15_000;

export interface NameServerAt {
  readonly host: string;
  readonly port: number;
  readonly key: TsigKey;
}

/**
 * Sends what `request` makes for an id, and gives each message that answers it, checked, to `take` until that says that the answer is whole.
 * Messages before the last signature are checked by it: `take` must have no effect but on what is thrown away with the answer. Throws VendorFault.
 */
export async function exchange(
  { host, port, key }: NameServerAt,
  request: (id: number) => Buffer,
  take: (message: Message) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const id = randomInt(65_536);
  const nowSeconds = () => Math.floor(Date.now() / 1_000);
  const { signed, mac } = sign(request(id), key, nowSeconds());
  const check = new AnswerCheck(key, mac, nowSeconds);
  const late = AbortSignal.timeout(EXCHANGE_MS);
  const socket = connect({ host, port, noDelay: true, signal: AbortSignal.any([signal, late]) });
  // Told to whoever reads it, below.
  socket.on('error', () => undefined);
  try {
    socket.write(frameOf(signed));
    for await (const bytes of framesOf(boundedAnswer(socket))) {
      const message = readMessage(bytes);
      if (message.header.id !== id || !message.isAnswer) throw new Malformed('it answers something else');
      // Of no effect but a failure, so it may be unsigned: some servers sign nothing of zones that they do not have.
      if (message.rcode !== 0 && signatureOf(message) === null) throw refusalOf(message.rcode);
      check.take(message);
      if (message.rcode !== 0) throw refusalOf(message.rcode);
      if ((await take(message)) && check.isComplete) return;
    }
    throw new Malformed('it ends too early');
  } catch (error) {
    throw faultOf(error, late.aborted);
  } finally {
    socket.destroy();
  }
}

/** What comes, up to so many bytes. Throws Malformed beyond them. */
async function* boundedAnswer(socket: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of socket) {
    total += chunk.length;
    if (total > ANSWER_BYTES_MAX) throw new Malformed(`it has more than ${ANSWER_BYTES_MAX / 1_048_576} MiB`);
    yield chunk;
  }
}

/** The name server refuses. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly rcode: string;

  constructor(rcode: string) {
    super(`the name server answers ${rcode}`);
    this.rcode = rcode;
  }
}

function refusalOf(rcode: number): Refusal {
  return new Refusal(rcodeName(rcode));
}

function faultOf(error: unknown, isLate: boolean): Error {
  if (error instanceof Refusal || error instanceof VendorFault) return error;
  if (isLate) return new VendorFault('VENDOR_TIMEOUT', 'The name server did not answer in time.', { cause: error });
  if (error instanceof BadSignature) {
    return new VendorFault('VENDOR_AUTH_ERROR', `The name server's answer is refused: ${error.message}.`, {
      cause: error,
    });
  }
  if (error instanceof Malformed) {
    return new VendorFault('VENDOR_ERROR', `The name server's answer cannot be read: ${error.message}.`, {
      cause: error,
    });
  }
  return new VendorFault('VENDOR_DOWN', 'The name server cannot be reached.', { cause: error });
}
