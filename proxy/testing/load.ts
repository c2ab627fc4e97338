import http from 'node:http';
import { visitor } from './visitor.ts';

export interface Load {
  /** Resolves once so many more requests have been answered. */
  answered(more: number): Promise<void>;
  /** Ends it, and says what became of the requests: how many there were, and every one that was not as it should be. */
  stop(): Promise<{ requests: number; failures: string[] }>;
}

/** Adds tasks through the proxy on `port` without a pause, on `connections` kept connections. */
export async function startLoad(port: number, connections: number): Promise<Load> {
  const one = visitor(port);
  const page = await one.get('/');
  const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  let requests = 0;
  let running = true;
  let notify = () => {};

  const worker = async (name: number) => {
    while (running) {
      const body = new URLSearchParams({ title: `load ${name}`, _csrf }).toString();
      const result = await post(agent, port, cookie, body);
      requests += 1;
      if (result !== '302') failures.push(result);
      notify();
    }
  };
  const workers = Array.from({ length: connections }, (_, i) => worker(i));
  return {
    async answered(more) {
      const goal = requests + more;
      await new Promise<void>((resolve) => {
        notify = () => {
          if (requests >= goal) resolve();
        };
      });
    },
    async stop() {
      running = false;
      await Promise.all(workers);
      agent.destroy();
      return { requests, failures };
    },
  };
}

function post(agent: http.Agent, port: number, cookie: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    http
      .request({
        agent,
        host: '127.0.0.1',
        port,
        path: '/task',
        method: 'POST',
        headers: {
          Cookie: cookie,
          'Content-Type': 'application/x-www-form-urlencoded',
          'Content-Length': Buffer.byteLength(body),
        },
      })
      .on('response', (response) => response.resume().on('end', () => resolve(`${response.statusCode}`)))
      .on('error', (error) => resolve(error.message))
      .end(body);
  });
}
