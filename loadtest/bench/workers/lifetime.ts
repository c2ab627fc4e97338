/** Lets the edge keep each answer for its argument, in seconds; replies to any message with the requests so far. */
import { createServer } from 'node:http';
import { serveWorker } from './serve.ts';

let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.setHeader('X-Accel-Expires', process.argv[2] ?? '').end('https://example.com/');
});
serveWorker(server);
process.on('message', () => process.send?.(requests));
