// What the load generator sends as a client of Amazon SQS: JSON, each request signed.
import { jsonRequest, type SqsKey, signedHeaders } from '../../test/support/sqs.ts';
import { BODY, QUEUE } from './flows.ts';
import type { Flow } from './load.ts';

const QueueUrl = `/sqs/000000000000/${QUEUE}`;
const MessageBody = JSON.stringify(JSON.parse(BODY).payload);

function signed(url: string, key: SqsKey, action: string, input: object): Buffer {
  const request = jsonRequest(action, { QueueUrl, ...input });
  const headers = Object.entries(signedHeaders(url, request, key)).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(request.body);
  return Buffer.from(
    `POST /sqs HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${headers.join('')}Content-Length: ${length}\r\n\r\n${request.body}`,
  );
}

/** The signature is looked at each time, though it is the same. */
export function sendMessages(url: string, key: SqsKey): Flow {
  const request = signed(url, key, 'SendMessage', { MessageBody });
  return { next: () => request };
}

const HANDLE = /"ReceiptHandle":"([^"]+)"/;

/** Receives one, deletes it, and so on; every call counts. */
export function receiveAndDelete(url: string, key: SqsKey): Flow {
  const receive = signed(url, key, 'ReceiveMessage', { AttributeNames: ['All'] });
  const held = new Map<number, string>();
  return {
    next(connection) {
      const ReceiptHandle = held.get(connection);
      return ReceiptHandle === undefined ? receive : signed(url, key, 'DeleteMessage', { ReceiptHandle });
    },
    answered(connection, _status, body) {
      if (held.delete(connection)) return;
      const [, handle] = HANDLE.exec(body.toString('latin1')) ?? [];
      if (handle !== undefined) held.set(connection, handle);
    },
  };
}
