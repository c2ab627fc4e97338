import { randomBytes } from 'node:crypto';
import type { RehearsedStack } from './containers.ts';

export type Kind = 'hot' | 'miss' | 'read' | 'write';

/** Requests a second. */
const rates: Record<Kind, number> = { hot: 40, miss: 4, read: 20, write: 20 };
const hotLinks = 20;
/** Milliseconds after which a request counts as failed. */
const timeout = 15_000;

/** One request of the load. */
export interface Request {
  kind: Kind;
  /** When it ended: milliseconds since 1970. */
  at: number;
  milliseconds: number;
  /** 0 without a response. */
  status: number;
  /** Whether the response was correct. */
  right: boolean;
  /** What a write was to add. */
  title?: string;
}

/** Starts to request hot links, new links, the list and writes, each at its constant rate, however slow the responses are. */
export function startLoad({ urls, shortener }: Pick<RehearsedStack, 'urls' | 'shortener'>) {
  const run = `rehearsal-${randomBytes(6).toString('base64url')}`;
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const expand = (id: string) => {
    const link = `${urls.expander}/api?u=${encodeURIComponent(`${shortener}/chain/2?id=${id}`)}`;
    const longUrl = `${shortener}/chain/0?id=${id}`;
    return send(link, {}, (status, body) => status === 200 && body === longUrl);
  };
  const kinds: Record<Kind, (i: number) => Promise<Partial<Request>>> = {
    hot: (i) => expand(`${run}-${i % hotLinks}`),
    miss: (i) => expand(`${run}-new-${i}`),
    read: () => send(`${urls.tasks}/`, {}, (status) => status === 200),
    async write(i) {
      const title = `${run} ${i}`;
      const options = { method: 'POST', headers: json, body: JSON.stringify({ title }) };
      return { title, ...(await send(`${urls.tasks}/tasks`, options, (status) => status === 201)) };
    },
  };
  const requests: Request[] = [];
  const pending = new Set<Promise<void>>();
  const timers = (Object.keys(kinds) as Kind[]).map((kind) => {
    let i = 0;
    return setInterval(() => {
      const start = Date.now();
      const request = kinds[kind](i++).then((answer) => {
        const at = Date.now();
        requests.push({ kind, at, milliseconds: at - start, status: 0, right: false, ...answer });
        pending.delete(request);
      });
      pending.add(request);
    }, 1_000 / rates[kind]);
  });
  return {
    /** The prefix of the titles that this load adds. */
    run,
    /** Ends the load. Resolves with all requests, in the order in which they ended. */
    async end(): Promise<Request[]> {
      timers.forEach(clearInterval);
      await Promise.all(pending);
      return requests;
    },
  };
}

/** Sends one request. It has the status 0 if it fails, or takes longer than the timeout. */
export function send(
  url: string,
  options: RequestInit = {},
  isRight: (status: number, body: string) => boolean = () => true,
): Promise<{ status: number; right: boolean }> {
  return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeout), ...options })
    .then(async (response) => ({
      status: response.status,
      right: isRight(response.status, await response.text()),
    }))
    .catch(() => ({ status: 0, right: false }));
}
