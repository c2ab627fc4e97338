import http, { type ServerResponse } from 'node:http';
import { listening } from '@longhand/shared/testing/listening.ts';

/** Starts an HTTP relay to the service at `target`, which can lose its connection. `down` resets connections, `hung` never answers. */
export async function startRelay(target: string) {
  const state = { connection: 'up' as 'up' | 'down' | 'hung', withdrawn: new Set<string>() };
  const hung = new Set<ServerResponse>();
  const server = http.createServer((incoming, outgoing) => {
    if (state.connection === 'down') return void incoming.socket.destroy();
    if (state.connection === 'hung') return void hung.add(outgoing);
    if (state.withdrawn.has(incoming.url ?? '')) return void outgoing.writeHead(404).end();
    const { method, headers } = incoming;
    const request = http.request(new URL(incoming.url ?? '/', target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing).on('error', () => {});
      outgoing.on('close', () => response.destroy());
    });
    request.on('error', () => incoming.socket.destroy());
    incoming.pipe(request);
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    withdrawn: state.withdrawn,
    lose(how: 'down' | 'hung' = 'down') {
      state.connection = how;
      server.closeAllConnections();
    },
    restore() {
      state.connection = 'up';
      for (const response of hung) response.destroy();
      hung.clear();
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
