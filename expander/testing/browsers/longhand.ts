import net from 'node:net';
import tls from 'node:tls';
import { followRedirects } from '../../src/expansion/chain.ts';
import { createExpand } from '../../src/expansion/expand.ts';
import type { Expansion } from '../../src/expansion/expansion.ts';
import { createGuard } from '../../src/guard/public-address.ts';
import { createBrowse } from '../../src/hop/browse.ts';
import { connector, type openSocket } from '../../src/hop/connect.ts';
import { guardedRequest } from '../../src/hop/fetch-hop.ts';
import { errorAt, type Link, leftByScript, savedAs, startOf } from './link.ts';
import { type Protocol, type Stage, userAgentOf } from './stage.ts';

/** Maximum links to follow in parallel without timeouts. */
const parallelLinks = 8;

/** Timeouts on a busy machine (ms). */
const patience = { hop: 9_000, chain: 30_000 };

/** Follows each link with `follow=all`. @returns the end of each link. */
export async function longhandEnds(links: readonly Link[], stage: Stage): Promise<string[]> {
  const ends: string[] = [];
  const queue = links.entries();
  const guard = createGuard(['127.0.0.0/8']);
  const followSome = async () => {
    for (const [index, link] of queue) {
      // All connections go to the stage, so no name should be looked up.
      const lookup = () => Promise.reject(new Error('a lookup'));
      const settings = { guard, lookup, userAgent: userAgentOf(index) };
      const { request, close } = guardedRequest(settings, (lookup) =>
        connector(lookup, toStage(stage, link.protocol)),
      );
      const browse = createBrowse(request, patience.hop);
      const { chain } = createExpand(followRedirects(browse, { times: patience }));
      ends[index] = endOf(await chain(startOf(link), { follow: 'all' }), link.compares);
      close();
    }
  };
  await Promise.all(Array.from({ length: parallelLinks }, followSome));
  return ends;
}

/** Connects to the stage, regardless of the host and port. */
function toStage({ port, tlsPorts }: Stage, protocol: Protocol = 'HTTP/1.1'): typeof openSocket {
  const host = '127.0.0.1';
  return (scheme, options) =>
    scheme === 'https:'
      ? tls.connect({ ...options, host, port: tlsPorts[protocol], rejectUnauthorized: false })
      : net.connect({ ...options, host, port });
}

function endOf({ end, longUrl, hops }: Expansion, compares: Link['compares']): string {
  const { file, scriptRedirect } = hops.at(-1) ?? {};
  if (compares === 'file' && file) return savedAs(file.name);
  if (compares === 'script' && scriptRedirect) return leftByScript;
  if (end.code === 'max_redirects') return errorAt(`${hops.at(-1)?.url}`);
  return /^(request_failed|timeout|loop)$/.test(end.code) ? errorAt(`${longUrl}`) : `${longUrl}`;
}
