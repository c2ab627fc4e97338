/** Lets the edge keep each answer for its argument, in seconds; replies to any message with the requests so far. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.setHeader('X-Accel-Expires', process.argv[2] ?? '').end('https://example.com/');
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', () => process.send?.(requests));
