import net from 'node:net';
import tls from 'node:tls';
import { followRedirects } from '../../src/expansion/chain.ts';
import { createExpand } from '../../src/expansion/expand.ts';
import type { End, Expansion } from '../../src/expansion/expansion.ts';
import { createGuard } from '../../src/guard/public-address.ts';
import { createBrowse } from '../../src/hop/browse.ts';
import { connector, type openSocket } from '../../src/hop/connector.ts';
import { guardedRequest } from '../../src/hop/fetch-hop.ts';
import { errorAt, type Link, leftByScript, savedAs, start } from './link.ts';
import { type Stage, userAgentOf } from './stage.ts';

/** Links followed at a time: more would be too slow for the time that a hop may take. */
const atATime = 8;

/** Where each link ends with `follow=all`. */
export async function longhandEnds(links: readonly Link[], stage: Stage): Promise<string[]> {
  const ends: string[] = [];
  const queue = links.keys();
  const guard = createGuard(['127.0.0.0/8']);
  const followSome = async () => {
    for (const index of queue) {
      const settings = { guard, lookup: noLookup, userAgent: userAgentOf(index) };
      const { request, close } = guardedRequest(settings, (lookup) => connector(lookup, toStage(stage)));
      const { chain } = createExpand(followRedirects(createBrowse(request)));
      ends[index] = endOf(await chain(start, { follow: 'all' }), links[index]?.counts);
      close();
    }
  };
  await Promise.all(Array.from({ length: atATime }, followSome));
  return ends;
}

/** Connects to the stage, whatever host and port are asked for. */
function toStage({ port, tlsPort }: Stage): typeof openSocket {
  const host = '127.0.0.1';
  return (protocol, options) =>
    protocol === 'https:'
      ? tls.connect({ ...options, host, port: tlsPort, rejectUnauthorized: false })
      : net.connect({ ...options, host, port });
}

const noLookup = () => {
  throw new Error('No name is looked up: all connections lead to the stage.');
};

const failures = new Set<End['code']>(['request_failed', 'timeout', 'loop']);

/** What is beyond the limit of redirects is not visited. */
function endOf({ end, longUrl, hops }: Expansion, counts: Link['counts']): string {
  const { file, scriptRedirect } = hops.at(-1) ?? {};
  if (counts === 'file' && file) return savedAs(file.name);
  if (counts === 'script' && scriptRedirect) return leftByScript;
  if (end.code === 'max_redirects') return errorAt(`${hops.at(-1)?.url}`);
  return failures.has(end.code) ? errorAt(`${longUrl}`) : `${longUrl}`;
}
