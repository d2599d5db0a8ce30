// A relay in a process of its own that takes every mail at once, or none: `stall` accepts connections and says nothing. Prints its port.
import { createServer } from 'node:net';

const stalls = process.argv[2] === 'stall';
let taken = 0;
const server = createServer((socket) => {
  if (stalls) return;
  socket.setNoDelay(true);
  socket.write('220 relay ESMTP\r\n');
  let text = '';
  let isData = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (;;) {
      const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
      if (end === -1) return;
      const line = text.slice(0, end);
      text = text.slice(end + (isData ? 5 : 2));
      if (isData) {
        isData = false;
        taken += 1;
        socket.write('250 2.0.0 Ok: queued\r\n');
      } else if (/^EHLO/i.test(line)) socket.write('250-relay\r\n250-PIPELINING\r\n250 8BITMIME\r\n');
      else if (/^DATA/i.test(line)) {
        isData = true;
        socket.write('354 Go ahead\r\n');
      } else socket.write(/^QUIT/i.test(line) ? '221 Bye\r\n' : '250 2.1.0 Ok\r\n');
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  process.stdout.write(`${address.port}\n`);
});
// How many mails it has taken so far.
process.on('message', () => process.send?.(taken));
