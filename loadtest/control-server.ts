/**
 * `node loadtest/control-server.ts [--port 9001]` serves the constant response for CONTROL_URL. If this server is slow, the
 * machine is slow.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { startProgram } from './bench/programs.ts';

const body = 'constant\n';

/** Starts the control in a separate process, on a free port. */
export const startControl = () => startProgram(import.meta.filename, (port) => ({ args: ['--port', port] }));

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '9001' } } });
  createServer({ noDelay: true, keepAliveTimeout: 75_000 }, (request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length }).end(body);
  }).listen(Number(values.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${values.port}`));
}
