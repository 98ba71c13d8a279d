import { connect } from 'node:net';

/** Sends an upload as fast as it is taken: `node flood.ts PORT BYTES`. Tells its parent that it began, and how much was taken when asked. */
const [port = 0, bytes = 0] = process.argv.slice(2).map(Number);
const PIECE_BYTES = 256 * 1024;
const CHUNK = Buffer.concat([
  Buffer.from(`${PIECE_BYTES.toString(16)}\r\n`),
  Buffer.alloc(PIECE_BYTES, 'a'),
  Buffer.from('\r\n'),
]);
let taken = 0;
const socket = connect(port, '127.0.0.1', () => {
  socket.write(`POST /flood HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n`);
  send();
  process.send?.('began');
});
process.on('message', () => process.send?.(taken));
process.on('disconnect', () => process.exit(0));

function send(): void {
  if (taken >= bytes) return;
  socket.write(CHUNK, () => {
    taken += PIECE_BYTES;
    send();
  });
}
