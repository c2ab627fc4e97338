import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { type Reply, rcodes, startNameServer } from '../../testing/name-server.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Follow } from '../expansion/expansion.ts';
import { createResolve, type Lookup, sharedLookup } from './lookup.ts';
import { createGuard } from './public-address.ts';

const v4 = '93.184.216.34';
const v6 = '2606:2800:220:1::1';

/** A name server with the same replies for every name. */
async function nameServer(of4: Reply, of6 = of4) {
  const server = await startNameServer(({ family }) => (family === 4 ? of4 : of6));
  onTestFinished(server.close);
  return server;
}

/** Looks up names at these servers. @returns addresses, or an error code. */
function look(servers: { server: string }[], allowedNetworks: string[] = []) {
  const resolve = createResolve(
    createGuard(allowedNetworks),
    servers.map(({ server }) => server),
  );
  return (name = 'a.example') =>
    resolve(name).then(
      (addresses): unknown => addresses.map(({ address }) => address),
      ({ code }) => code,
    );
}

describe('the addresses of a name', () => {
  const found: Reply = { addresses: [v6, v4] };
  const none: Reply = {};
  const missing: Reply = { rcode: rcodes.NXDOMAIN };
  const refused: Reply = { rcode: rcodes.REFUSED };
  const failed: Reply = { rcode: rcodes.SERVFAIL };

  test.each<[string, Reply, Reply, unknown]>([
    ['IPv4 first', found, found, [v4, v6]],
    ['IPv4 only', found, none, [v4]],
    ['IPv6 only', none, found, [v6]],
    ['IPv4 while IPv6 is silent', found, 'silence', [v4]],
    ['IPv4 while IPv6 takes 500 ms', found, { ...found, milliseconds: 500 }, [v4]],
    ['IPv6 while IPv4 is silent', 'silence', found, [v6]],
    ['both if IPv6 takes 5 ms', found, { ...found, milliseconds: 5 }, [v4, v6]],
    ['IPv4 if IPv6 is refused', found, refused, [v4]],
    ['none: the name does not exist', missing, missing, 'ENOTFOUND'],
    ['none: the name has no address', none, none, 'ENOTFOUND'],
    ['none: the server refuses', refused, refused, 'EAI_AGAIN'],
    ['none: the server fails', failed, failed, 'EAI_AGAIN'],
    ['none: no IPv4 address, and the server refuses IPv6', none, refused, 'EAI_AGAIN'],
  ])('are %s', async (_, of4, of6, result) => {
    expect(await look([await nameServer(of4, of6)])()).toEqual(result);
  });

  test('come over TCP if they do not fit into a datagram', async () => {
    const addresses = Array.from({ length: 40 }, (_, i) => `93.184.216.${i}`);
    const server = await nameServer({ addresses });
    expect(await look([server])()).toEqual(addresses);
    expect(server.asked).toEqual(['UDP a.example 4', 'UDP a.example 6', 'TCP a.example 4']);
  });

  test.each<[string, Reply]>([
    ['silent', 'silence'],
    ['refusing', refused],
    ['failing', failed],
  ])('come from the second server if the first server is %s', async (_, first) => {
    const servers = [await nameServer(first), await nameServer(found)];
    expect(await look(servers)()).toEqual([v4, v6]);
  });

  test('do not come from a server that was silent before', async () => {
    const silent = await nameServer('silence');
    const lookUp = look([silent, await nameServer(found)]);
    await lookUp('a.example');
    expect(await lookUp('b.example')).toEqual([v4, v6]);
    expect(silent.asked.filter((question) => question.includes('b.example'))).toEqual([]);
  });

  test('may take 1.8 s, even from a server that was fast before', async () => {
    const asked = new Map<string, number>();
    // A recursive resolver's delay starts with the first of several identical questions.
    const server = await startNameServer(({ name, family }) => {
      const key = `${name} ${family}`;
      if (!asked.has(key)) asked.set(key, performance.now());
      const time = name === 'slow.example' ? 1_800 : 20;
      return { addresses: [v4], milliseconds: Math.max(1, (asked.get(key) ?? 0) + time - performance.now()) };
    });
    onTestFinished(server.close);
    const lookUp = look([server]);
    for (let i = 0; i < 5; i += 1) await lookUp(`${i}.example`);
    const quick = setInterval(() => lookUp(`${Math.random()}.example`), 50);
    onTestFinished(() => clearInterval(quick));
    expect(await lookUp('slow.example')).toEqual([v4]);
  });

  test('with a single label are found without a search domain', async () => {
    const server = await nameServer(found);
    expect(await look([server])('shortener')).toEqual([v4, v6]);
    expect(server.asked).toEqual(['UDP shortener 4', 'UDP shortener 6']);
  });

  test.each(['..', `${'a'.repeat(64)}.example`])('of an invalid name are unknown: %s', async (name) => {
    expect(await look([await nameServer(found)])(name)).toBe('ENOTFOUND');
  });

  test('of localhost are the exempt loopback addresses, without a query', async () => {
    const server = await nameServer(found);
    for (const name of ['localhost', 'a.localhost', 'LOCALHOST.']) {
      expect(await look([server], ['127.0.0.0/8'])(name)).toEqual(['127.0.0.1']);
      expect(await look([server], ['127.0.0.0/8', '::1/128'])(name)).toEqual(['127.0.0.1', '::1']);
    }
    expect(server.asked).toEqual([]);
    expect(await look([server])('notlocalhost')).toEqual([v4, v6]);
  });
});

test.each<Follow>(['default', 'all'])(
  'the error of a silent name server comes before the hop times out: follow=%s',
  async (follow) => {
    const servers = await Promise.all([nameServer('silence'), nameServer('silence')]);
    const lookup = createResolve(
      createGuard(),
      servers.map(({ server }) => server),
    );
    const { error } = await testExpander({ lookup }).expand.chain('http://a.example/', { follow });
    expect(error).toMatchObject({
      code: 'request_failed',
      message: expect.stringMatching(/name server did not answer/),
    });
  },
);

/** A lookup that the test answers. */
function manualLookup() {
  const asked: { name: string; answer: () => void }[] = [];
  const lookup: Lookup = (name) =>
    new Promise((resolve) => {
      asked.push({ name, answer: () => resolve([{ address: '93.184.216.34', family: 4 }]) });
    });
  return { asked, lookup };
}

describe('lookups', () => {
  test('of one name are shared while they are in progress', async () => {
    const { asked, lookup } = manualLookup();
    const { lookup: shared } = sharedLookup(lookup);
    const lookups = [1, 2, 3].map(() => shared('a.example'));
    expect(asked.map(({ name }) => name)).toEqual(['a.example']);
    asked[0]?.answer();
    expect(await Promise.all(lookups)).toEqual(Array(3).fill([{ address: '93.184.216.34', family: 4 }]));
    shared('a.example');
    expect(asked).toHaveLength(2);
  });

  test('do not delay the error of a chain that times out', async () => {
    const { lookup, untilLookedUp } = sharedLookup(manualLookup().lookup);
    lookup('a.example');
    const timeout = new ExpansionError('timeout', 'Time is up.');
    const fetchHop = untilLookedUp(() => Promise.reject(timeout));
    const options = { follow: 'default', signal: AbortSignal.abort(timeout) } as const;
    await expect(fetchHop(new URL('http://a.example/'), options)).rejects.toBe(timeout);
  });

  test('of a client that has disconnected are limited to 128 and do not delay other clients', async () => {
    const { asked, lookup } = manualLookup();
    const { expand } = testExpander({ lookup });
    const leave = new AbortController();
    const begin = (client: string, domain: string, signal?: AbortSignal) =>
      Array.from({ length: 200 }, (_, i) => expand.chain(`http://${i}.${domain}/`, { client, signal }));
    const left = begin('a', 'left.example', leave.signal);
    await expect.poll(() => asked.length).toBe(128);
    leave.abort();
    await Promise.all(left);
    begin('a', 'next.example');
    begin('b', 'other.example');
    await expect.poll(() => asked.length).toBe(256);
    expect(asked.slice(128).every(({ name }) => name.endsWith('other.example'))).toBe(true);
  });
});
