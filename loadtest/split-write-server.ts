import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SplitWriteServer extends AsyncDisposable {
  readonly url: string;
}

const form = '<form method="post" action="/task"><input type="hidden" name="_csrf" value="token"></form>';

/**
 * Starts the negative control: a server that looks like the task list to the load scripts and sends every response in
 * two writes. With `noDelay` off, Nagle's algorithm holds the second write back until the client has acknowledged the
 * first, which a client on a keep-alive connection delays by about 40 ms.
 */
export async function startSplitWriteServer(options: { noDelay: boolean }): Promise<SplitWriteServer> {
  const server = http.createServer(options, (request, response) => {
    request.resume();
    if (request.method === 'POST') respond(response, 302, { Location: '/' }, ['See', ' the list.\n']);
    else if (request.url === '/tasks') {
      respond(response, 200, { 'Content-Type': 'application/json' }, ['{"tasks"', ':[]}']);
    } else {
      respond(response, 200, { 'Set-Cookie': 'session=control; Path=/' }, ['<title>Control</title>', form]);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections();
    },
  };
}

/** Sends the first half of the body with the headers, and the second in a separate write. */
function respond(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  [first, second]: [string, string],
): void {
  response.writeHead(status, { ...headers, 'Content-Length': first.length + second.length });
  response.write(first, () => response.end(second));
}
