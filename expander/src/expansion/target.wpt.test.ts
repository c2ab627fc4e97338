import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { agentConnector } from '@longhand/shared/agent.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { createGuard } from '../guard/public-address.ts';
import { fetchHead, guardedRequest, percentEncoded } from '../hop/fetch-hop.ts';
import { ExpansionError } from './errors.ts';
import { isWeb } from './parse-url.ts';
import { readTarget, resolveLocation } from './target.ts';

interface Case {
  input: string;
  base: string | null;
}

const file = `${import.meta.dirname}/../../testing/wpt/urltestdata.json`;
const cases = (JSON.parse(readFileSync(file, 'utf8')) as (Case | string)[]).filter(
  (entry) => typeof entry !== 'string',
);

/** Hosts that the parser accepts and no name server can have. */
const impossibleHosts = ['!"$&\'()*+,-.;=_`{}~'];

/** What a browser makes of `reference`: null if it cannot go there. */
function parsed(reference: string, base?: string): URL | null {
  const url = URL.parse(reference, base);
  return url && isWeb(url) && impossibleHosts.includes(url.hostname) ? null : url;
}

test('the set is whole, and has every impossible host that is listed', () => {
  expect(cases).toHaveLength(820);
  const hosts = new Set(cases.map(({ input, base }) => URL.parse(input, base ?? undefined)?.hostname));
  for (const host of impossibleHosts) expect(hosts).toContain(host);
});

test('as `u`, each URL that the parser accepts is the URL that is contacted', () => {
  const differences = cases.flatMap(({ input }) => {
    if (!URL.canParse(input)) return [];
    const url = parsed(input);
    const expected = url === null ? 'invalid_url' : isWeb(url) ? url.href : 'unsupported_scheme';
    const ours = read(input);
    return ours === expected ? [] : [{ input, ours, expected }];
  });
  expect(differences).toEqual([]);
});

test('as `u`, what the parser refuses is contacted only where `http://` was missing', () => {
  for (const { input } of cases) {
    if (URL.canParse(input)) continue;
    const ours = read(input);
    if (ours !== 'invalid_url')
      expect([`http://${input.trim()}`, `http:${input.trim()}`].map(hrefOf)).toContain(ours);
  }
});

describe('as `Location`', () => {
  /** What the set resolves against: its own base, if a website can have that URL. */
  const baseOf = ({ base }: Case) =>
    base && /^https?:\/\/\w/.test(base) ? base : 'http://example.org/foo/bar';

  test('each leads where the parser says', () => {
    const differences = cases.flatMap((entry) => {
      const base = baseOf(entry);
      const sent = Buffer.from(entry.input).toString('latin1');
      const ours = resolveLocation(percentEncoded(sent) ?? '', readTarget(base))?.url.href;
      const expected = inheriting(parsed(entry.input, base), base)?.href;
      return ours === expected ? [] : [{ ...entry, ours, expected }];
    });
    expect(differences).toEqual([]);
  });

  /** What HTTP can carry: no controls but the tab (RFC 9110 section 5.5). */
  const sendable = cases.filter(({ input }) => /^[\t -~\u0080-\uffff]*$/.test(input) && input.trim() !== '');
  const server = createServer(({ url, socket }) => {
    const { input } = sendable[Number(url?.slice(1))] as Case;
    socket.write(`HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ${input}\r\n\r\n`);
  });
  afterAll(() => server.close());

  test('each leads there when it comes over the wire, as bytes', async () => {
    const port = await listening(server);
    const lookup = () => {};
    const guard = createGuard(['127.0.0.0/8']);
    const { request, close } = guardedRequest({ guard, lookup, userAgent: 'test' }, agentConnector);
    const fetchHop = fetchHead(request);
    expect(sendable.length).toBeGreaterThan(750);
    for (const [i, entry] of sendable.entries()) {
      const { location } = await fetchHop(new URL(`http://127.0.0.1:${port}/${i}`), { follow: 'default' });
      const base = baseOf(entry);
      const ours = resolveLocation(location ?? '', readTarget(base))?.url.href;
      expect([entry.input, ours]).toEqual([entry.input, inheriting(parsed(entry.input, base), base)?.href]);
    }
    close();
  });
});

function read(input: string): string {
  try {
    return readTarget(input).url.href;
  } catch (error) {
    if (error instanceof ExpansionError) return error.code;
    throw error;
  }
}

const hrefOf = (input: string) => URL.parse(input)?.href;

/** A `Location` without a fragment inherits that of the base (RFC 9110 section 10.2.2). */
function inheriting(url: URL | null, base: string): URL | null {
  const { hash } = new URL(base);
  return !url || !isWeb(url) || url.href.includes('#') || hash === '' ? url : new URL(url.href + hash);
}
