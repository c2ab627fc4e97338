import http from 'node:http';
import { openSession } from './session.ts';

export interface Load {
  /** Resolves once `count` more requests have been answered. */
  answered(count: number): Promise<void>;
  /** Ends the load. @returns how many requests there were, and what went wrong with each that failed. */
  stop(): Promise<{ requests: number; failures: string[] }>;
}

/** Adds tasks through the proxy on `port` without a pause, on `connections` keep-alive connections. */
export async function startLoad(port: number, connections: number): Promise<Load> {
  const page = await openSession(port).get('/');
  const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  let requests = 0;
  let running = true;
  let notify = () => {};

  const worker = async (i: number) => {
    while (running) {
      const body = new URLSearchParams({ title: `load ${i}`, _csrf }).toString();
      const result = await postTask(agent, port, cookie, body);
      requests += 1;
      if (result !== '302') failures.push(result);
      notify();
    }
  };
  const workers = Array.from({ length: connections }, (_, i) => worker(i));
  return {
    async answered(count) {
      const goal = requests + count;
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

/** Resolves with the status, or with the message of the error. */
function postTask(agent: http.Agent, port: number, cookie: string, body: string): Promise<string> {
  const headers = {
    Cookie: cookie,
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve) => {
    http
      .request({ agent, host: '127.0.0.1', port, path: '/task', method: 'POST', headers })
      .on('response', (response) => response.resume().on('end', () => resolve(`${response.statusCode}`)))
      .on('error', (error) => resolve(error.message))
      .end(body);
  });
}
