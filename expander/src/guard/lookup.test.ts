import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { hopRequest } from '../../testing/hop-request.ts';
import { type Reply, rcodes, startNameServer } from '../../testing/name-server.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Follow } from '../expansion/expansion.ts';
import { createResolve, type Lookup, sharedLookup } from './lookup.ts';
import { createGuard } from './public-address.ts';

const v4 = '93.184.216.34';
const v6 = '2606:2800:220:1::1';

/** Starts a name server with the same replies for every name. */
async function nameServer(of4: Reply, of6 = of4) {
  const server = await startNameServer(({ family }) => (family === 4 ? of4 : of6));
  onTestFinished(server.close);
  return server;
}

/** Creates a function that looks up a name at these servers. It returns addresses or an error code. */
function lookupAt(servers: { server: string }[], allowedNetworks: string[] = []) {
  const addresses = servers.map(({ server }) => server);
  const resolve = createResolve(createGuard(allowedNetworks), addresses);
  return (name = 'a.example') =>
    resolve(name).then(
      (addresses): unknown => addresses.map(({ address }) => address),
      ({ code }) => code,
    );
}

describe('a lookup', () => {
  const found: Reply = { addresses: [v6, v4] };
  const none: Reply = {};
  const missing: Reply = { rcode: rcodes.NXDOMAIN };
  const refused: Reply = { rcode: rcodes.REFUSED };
  const failed: Reply = { rcode: rcodes.SERVFAIL };

  test.each<[string, Reply, Reply, unknown]>([
    ['IPv4 addresses first', found, found, [v4, v6]],
    ['IPv4 addresses if the name has no IPv6 address', found, none, [v4]],
    ['IPv6 addresses if the name has no IPv4 address', none, found, [v6]],
    ['IPv4 addresses if the IPv6 query is not answered', found, 'silence', [v4]],
    ['IPv4 addresses if the IPv6 query takes 500 ms', found, { ...found, milliseconds: 500 }, [v4]],
    ['IPv6 addresses if the IPv4 query is not answered', 'silence', found, [v6]],
    [
      'addresses of both families if the IPv6 query takes 5 ms',
      found,
      { ...found, milliseconds: 5 },
      [v4, v6],
    ],
    ['IPv4 addresses if the IPv6 query is refused', found, refused, [v4]],
    ['ENOTFOUND if the name does not exist', missing, missing, 'ENOTFOUND'],
    ['ENOTFOUND if the name has no address', none, none, 'ENOTFOUND'],
    ['EAI_AGAIN if the server refuses', refused, refused, 'EAI_AGAIN'],
    ['EAI_AGAIN if the server fails', failed, failed, 'EAI_AGAIN'],
    ['EAI_AGAIN if the IPv6 query is refused and IPv4 has no address', none, refused, 'EAI_AGAIN'],
  ])('returns %s', async (_, of4, of6, result) => {
    expect(await lookupAt([await nameServer(of4, of6)])()).toEqual(result);
  });

  test('uses TCP if the addresses do not fit into a datagram', async () => {
    const addresses = Array.from({ length: 40 }, (_, i) => `93.184.216.${i}`);
    const server = await nameServer({ addresses });
    expect(await lookupAt([server])()).toEqual(addresses);
    expect(server.queries).toEqual(['UDP a.example 4', 'UDP a.example 6', 'TCP a.example 4']);
  });

  test.each<[string, Reply]>([
    ['silent', 'silence'],
    ['refusing', refused],
    ['failing', failed],
  ])('uses the second server if the first server is %s', async (_, first) => {
    const servers = [await nameServer(first), await nameServer(found, none)];
    expect(await lookupAt(servers)()).toEqual([v4]);
  });

  test('skips a server that did not respond to an earlier lookup', async () => {
    const silent = await nameServer('silence');
    const lookUp = lookupAt([silent, await nameServer(found, none)]);
    await lookUp('a.example');
    expect(await lookUp('b.example')).toEqual([v4]);
    expect(silent.queries.filter((query) => query.includes('b.example'))).toEqual([]);
  });

  test('waits 1.8 s for a server that was fast before', async () => {
    const firstQueries = new Map<string, number>();
    // A recursive resolver answers all identical queries when the first is resolved.
    const server = await startNameServer(({ name, family }) => {
      const first = firstQueries.getOrInsert(`${name} ${family}`, performance.now());
      const time = name === 'slow.example' ? 1_800 : 20;
      return { addresses: [v4], milliseconds: Math.max(1, first + time - performance.now()) };
    });
    onTestFinished(server.close);
    const lookUp = lookupAt([server]);
    for (let i = 0; i < 5; i += 1) await lookUp(`${i}.example`);
    const quick = setInterval(() => lookUp(`${Math.random()}.example`), 50);
    onTestFinished(() => clearInterval(quick));
    expect(await lookUp('slow.example')).toEqual([v4]);
  });

  test('does not append a search domain to a single label', async () => {
    const server = await nameServer(found);
    expect(await lookupAt([server])('shortener')).toEqual([v4, v6]);
    expect(server.queries).toEqual(['UDP shortener 4', 'UDP shortener 6']);
  });

  test.each(['..', `${'a'.repeat(64)}.example`])(
    'returns ENOTFOUND for the invalid name %s',
    async (name) => {
      expect(await lookupAt([await nameServer(found)])(name)).toBe('ENOTFOUND');
    },
  );

  test('resolves localhost to the exempt loopback addresses without a query', async () => {
    const server = await nameServer(found);
    for (const name of ['localhost', 'a.localhost', 'LOCALHOST.']) {
      expect(await lookupAt([server], ['127.0.0.0/8'])(name)).toEqual(['127.0.0.1']);
      expect(await lookupAt([server], ['127.0.0.0/8', '::1/128'])(name)).toEqual(['127.0.0.1', '::1']);
    }
    expect(server.queries).toEqual([]);
    expect(await lookupAt([server])('notlocalhost')).toEqual([v4, v6]);
  });
});

test.each<Follow>(['default', 'all'])(
  'a lookup fails before the hop times out if no name server responds: follow=%s',
  async (follow) => {
    const servers = [await nameServer('silence'), await nameServer('silence')].map(({ server }) => server);
    const lookup = createResolve(createGuard(), servers);
    const { error } = await testExpander({ lookup }).expand.chain('http://a.example/', { follow });
    const message = expect.stringMatching(/name server did not respond/);
    expect(error).toMatchObject({ code: 'request_failed', message });
  },
);

/** Creates a lookup that stays pending until the test resolves it. */
function manualLookup() {
  const pending: { name: string; resolve: () => void }[] = [];
  const lookup: Lookup = (name) =>
    new Promise((resolve) => {
      pending.push({ name, resolve: () => resolve([{ address: v4, family: 4 }]) });
    });
  return { pending, lookup };
}

describe('sharedLookup', () => {
  test('shares lookups of the same name while they are in progress', async () => {
    const { pending, lookup } = manualLookup();
    const { lookup: shared } = sharedLookup(lookup);
    const lookups = [1, 2, 3].map(() => shared('a.example'));
    expect(pending.map(({ name }) => name)).toEqual(['a.example']);
    pending[0]?.resolve();
    expect(await Promise.all(lookups)).toEqual(Array(3).fill([{ address: v4, family: 4 }]));
    shared('a.example');
    expect(pending).toHaveLength(2);
  });

  test('does not delay the timeout of a chain', async () => {
    const { lookup, untilLookedUp } = sharedLookup(manualLookup().lookup);
    lookup('a.example');
    const timeout = new ExpansionError('timeout', 'Time is up.');
    const fetchHop = untilLookedUp(() => Promise.reject(timeout));
    const request = hopRequest({ signal: AbortSignal.abort(timeout) });
    await expect(fetchHop(new URL('http://a.example/'), request)).rejects.toBe(timeout);
  });

  test('limits abandoned lookups to 128 per client', async () => {
    const { pending, lookup } = manualLookup();
    const { expand } = testExpander({ lookup });
    const disconnect = new AbortController();
    const start = (client: string, domain: string, signal?: AbortSignal) =>
      Array.from({ length: 200 }, (_, i) => expand.chain(`http://${i}.${domain}/`, { client, signal }));
    const abandoned = start('a', 'abandoned.example', disconnect.signal);
    await expect.poll(() => pending.length).toBe(128);
    disconnect.abort();
    await Promise.all(abandoned);
    start('a', 'next.example');
    start('b', 'other.example');
    await expect.poll(() => pending.length).toBe(256);
    expect(pending.slice(128).every(({ name }) => name.endsWith('other.example'))).toBe(true);
  });
});
