import { randomBytes } from 'node:crypto';
import { type Outcome, type Planned, startLoad } from '@longhand/loadtest/load-generator.ts';
import type { RehearsedStack } from './containers.ts';

export type Kind = 'hot' | 'miss' | 'read' | 'write';

/** Requests a second. */
const rates: Record<Kind, number> = { hot: 40, miss: 4, read: 20, write: 20 };
const hotLinks = 20;

/** One request of the load. */
export interface Request extends Pick<Outcome, 'at' | 'milliseconds' | 'status' | 'right'> {
  kind: Kind;
  /** What a write was to add. */
  title?: string;
}

/** Starts to request hot links, new links, the list and writes, each at its constant rate. */
export function startMix({ urls, shortener }: Pick<RehearsedStack, 'urls' | 'shortener'>) {
  const run = `rehearsal-${randomBytes(6).toString('base64url')}`;
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const expand = (id: string) => ({
    url: `${urls.expander}/api?u=${encodeURIComponent(`${shortener}/chain/2?id=${id}`)}`,
    expectedBody: `${shortener}/chain/0?id=${id}`,
  });
  const kinds: Record<Kind, (i: number) => Planned & { title?: string }> = {
    hot: (i) => expand(`${run}-${i % hotLinks}`),
    miss: (i) => expand(`${run}-new-${i}`),
    read: () => ({ url: `${urls.tasks}/` }),
    write(i) {
      const title = `${run} ${i}`;
      return { title, url: `${urls.tasks}/tasks`, headers, body: JSON.stringify({ title }), expected: 201 };
    },
  };
  const loads = (Object.keys(kinds) as Kind[]).map((kind) =>
    startLoad((i) => ({ kind, ...kinds[kind](i) }), { rate: rates[kind] }),
  );
  return {
    /** The prefix of the titles that this load adds. */
    run,
    /** Ends the load. Resolves with all requests. */
    end: async (): Promise<Request[]> => (await Promise.all(loads.map((load) => load.stop()))).flat(),
  };
}
