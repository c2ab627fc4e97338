import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { listening } from '@longhand/shared/testing/listening.ts';

/** `down` resets connections. `hung` resets them and then never answers. `silent` keeps them open, and sends nothing more. */
type Loss = 'down' | 'hung' | 'silent';

interface Answer {
  status: number;
  headers?: Record<string, string>;
}

/** What happens to a request. `delay` in milliseconds. */
export interface Fault {
  delay?: number;
  lose?: 'request' | 'response';
}

/** A request that has reached the service. */
export interface Forwarded {
  /** Milliseconds since 1970. */
  time: number;
  method: string;
  path: string;
  body: string;
  /** Undefined if the service has not answered. It may have done what the request asks for. */
  status?: number;
}

/**
 * Starts an HTTP relay to the service at `target`, which can lose its connection.
 *
 * @param faultOf decides what happens to a request
 */
export async function startRelay(target: string, faultOf: (incoming: IncomingMessage) => Fault = () => ({})) {
  let loss: Loss | undefined;
  let service = target;
  /** Answers by path instead of the service's. */
  const answers = new Map<string, Answer>();
  /** Responses of the service that wait for a promise, by path. */
  const held = new Map<string, Promise<unknown>>();
  /** Responses that stay open until the connection is restored. */
  const open = new Set<ServerResponse>();
  const asked: string[] = [];
  const forwarded: Forwarded[] = [];

  const server = http.createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/';
    asked.push(`${incoming.method} ${path}`);
    open.add(outgoing);
    outgoing.on('close', () => open.delete(outgoing));
    if (loss === 'down') return void incoming.socket.destroy();
    if (loss) return;
    const answer = answers.get(path);
    if (answer) return void outgoing.writeHead(answer.status, answer.headers).end();
    pass(incoming, outgoing, path);
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse, path: string) {
    const { method = '', headers, socket } = incoming;
    const { delay = 0, lose } = faultOf(incoming);
    if (delay > 0) await setTimeout(delay);
    if (lose === 'request') socket.destroy();
    if (socket.destroyed) return;
    const entry: Forwarded = { time: Date.now(), method, path, body: '' };
    forwarded.push(entry);
    const request = http.request(new URL(path, service), { method, headers }, async (response) => {
      entry.status = response.statusCode ?? 502;
      if (lose === 'response') return void socket.destroy();
      outgoing.on('close', () => response.destroy());
      await held.get(path);
      outgoing.writeHead(entry.status, response.headers);
      outgoing.flushHeaders();
      response.on('data', (chunk) => {
        if (loss === undefined) outgoing.write(chunk);
      });
      response.on('end', () => {
        if (loss === undefined) outgoing.end();
      });
      response.on('error', () => {});
    });
    request.on('error', () => socket.destroy());
    incoming.on('data', (chunk) => {
      entry.body += chunk;
    });
    incoming.pipe(request);
  }

  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    answers,
    held,
    /** The requests so far, such as `GET /`. */
    asked,
    forwarded,
    /** Relays to another service from now on. */
    moveTo(url: string) {
      service = url;
    },
    lose(how: Loss = 'down') {
      loss = how;
      if (how !== 'silent') server.closeAllConnections();
    },
    /** Restores the connection. Requests without a response fail. */
    restore() {
      if (loss) for (const response of open) response.destroy();
      loss = undefined;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
