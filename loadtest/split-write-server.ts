import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TwoPieces {
  readonly url: string;
  close(): Promise<void>;
}

const form = '<form method="post" action="/task"><input type="hidden" name="_csrf" value="token"></form>';

/**
 * Starts the negative control: something that looks like the task list to the load scripts and writes
 * every response in two pieces. With `noDelay` off, Nagle's algorithm holds the second piece back until
 * the client has acknowledged the first, which a client on a kept connection delays by about 40 ms.
 */
export async function startTwoPieces({ noDelay }: { noDelay: boolean }): Promise<TwoPieces> {
  const server = http.createServer({ noDelay }, (request, response) => {
    request.resume();
    if (request.method === 'POST') answer(response, 302, { Location: '/' }, ['On to', ' the list.\n']);
    else if (request.url === '/tasks')
      answer(response, 200, { 'Content-Type': 'application/json' }, ['{"tasks"', ':[]}']);
    else answer(response, 200, { 'Set-Cookie': 'session=control; Path=/' }, ['<title>Control</title>', form]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answer(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  [first, second]: [string, string],
): void {
  response.writeHead(status, { ...headers, 'Content-Length': first.length + second.length });
  // The first piece goes out with the headers; the second is a write of its own.
  response.write(first, () => response.end(second));
}
