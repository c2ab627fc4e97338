import http from 'node:http';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';

const form = '<form method="post" action="/task"><input type="hidden" name="_csrf" value="token"></form>';

/**
 * Starts the negative control: a server that looks like the task list to the load scripts and sends every response in
 * two writes. With `noDelay` off, Nagle's algorithm holds the second write back until the client has acknowledged the
 * first, which a client on a keep-alive connection delays by about 40 ms.
 */
export async function startSplitWriteServer(options: { noDelay: boolean }) {
  const server = http.createServer(options, (request, response) => {
    /** Sends the first half of the body with the headers, and the second in a separate write. */
    const respond = (status: number, headers: Record<string, string>, first: string, second: string) => {
      response.writeHead(status, { ...headers, 'Content-Length': first.length + second.length });
      response.write(first, () => response.end(second));
    };
    request.resume();
    if (request.method === 'POST') respond(302, { Location: '/' }, 'See', ' the list.\n');
    else if (request.url?.startsWith('/tasks'))
      respond(200, { 'Content-Type': 'application/json' }, '[', ']');
    else respond(200, { 'Set-Cookie': 'session=control; Path=/' }, '<title>Control</title>', form);
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    async [Symbol.asyncDispose]() {
      cutOff(server);
    },
  };
}
