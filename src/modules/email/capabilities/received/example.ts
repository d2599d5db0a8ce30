// Set-up calls for the examples of received mail: an inbox, and a mail that is handed over for it.

const SOURCE =
  'From: Shop <shop@sender.test>\r\nTo: {to}\r\nSubject: Your code\r\nMessage-ID: <1@sender.test>\r\n\r\n123456\r\n';

/** The second call answers the mail: `$1.inbound_id`. */
export function receivedBefore(address: string) {
  const mail = Buffer.from(SOURCE.replace('{to}', address)).toString('base64');
  return [
    { capability: 'email.inbox.create', input: { address } },
    { capability: 'email.inbound', input: { content_base64: mail, from: 'shop@sender.test', to: [address] } },
  ];
}
