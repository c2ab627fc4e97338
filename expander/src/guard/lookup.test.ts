import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { type Reply, rcodes, startNameServer } from '../../testing/name-server.ts';
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

/** Looks up a name at these servers: its addresses, or the code of the error. */
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
  const told: Reply = { addresses: [v6, v4] };
  const none: Reply = {};
  const missing: Reply = { rcode: rcodes.NXDOMAIN };
  const refused: Reply = { rcode: rcodes.REFUSED };

  test.each<[string, Reply, Reply, unknown]>([
    ['of both families, IPv4 first', told, told, [v4, v6]],
    ['of IPv4 only', told, none, [v4]],
    ['of IPv6 only', none, told, [v6]],
    ['of IPv4 without those of IPv6 that do not come', told, 'silence', [v4]],
    ['of IPv4 without those of IPv6 that come too late', told, { ...told, milliseconds: 500 }, [v4]],
    ['of IPv6 without those of IPv4 that do not come', 'silence', told, [v6]],
    ['of IPv4 with those of IPv6 that come a little later', told, { ...told, milliseconds: 5 }, [v4, v6]],
    ['of IPv4 though IPv6 is refused', told, refused, [v4]],
    ['that does not exist: unknown', missing, missing, 'ENOTFOUND'],
    ['that has none: unknown', none, none, 'ENOTFOUND'],
    ['at a server that refuses: no answer', refused, refused, 'EAI_AGAIN'],
    [
      'at a server that fails: no answer',
      { rcode: rcodes.SERVFAIL },
      { rcode: rcodes.SERVFAIL },
      'EAI_AGAIN',
    ],
    ['that has none of one family, if the other is refused: no answer', none, refused, 'EAI_AGAIN'],
  ])('%s', async (_, of4, of6, result) => {
    expect(await look([await nameServer(of4, of6)])()).toEqual(result);
  });

  test('that do not fit into a datagram come over TCP', async () => {
    const addresses = Array.from({ length: 40 }, (_, i) => `93.184.216.${i}`);
    const server = await nameServer({ addresses });
    expect(await look([server])()).toEqual(addresses);
    expect(server.asked).toEqual(['UDP a.example 4', 'UDP a.example 6', 'TCP a.example 4']);
  });

  test.each<[string, Reply]>([
    ['silent', 'silence'],
    ['refusing', refused],
    ['failing', { rcode: rcodes.SERVFAIL }],
  ])('come from the second server if the first one is %s', async (_, first) => {
    const servers = [await nameServer(first), await nameServer(told)];
    expect(await look(servers)()).toEqual([v4, v6]);
  });

  test('come from another server once one was silent', async () => {
    const silent = await nameServer('silence');
    const lookUp = look([silent, await nameServer(told)]);
    await lookUp('a.example');
    expect(await lookUp('b.example')).toEqual([v4, v6]);
    expect(silent.asked.filter((question) => question.includes('b.example'))).toEqual([]);
  });

  test('may take a name server 1.8 s, even if it was quick before', async () => {
    const asked = new Map<string, number>();
    // Like a recursive resolver, it answers 1.8 s after the first of equal questions.
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

  test('of one label are resolved without a search domain', async () => {
    const server = await nameServer(told);
    expect(await look([server])('shortener')).toEqual([v4, v6]);
    expect(server.asked).toEqual(['UDP shortener 4', 'UDP shortener 6']);
  });

  test.each(['..', `${'a'.repeat(64)}.example`])('of a name that cannot exist: unknown: %s', async (name) => {
    expect(await look([await nameServer(told)])(name)).toBe('ENOTFOUND');
  });

  test('of localhost are the exempt loopback addresses, without a name server', async () => {
    const server = await nameServer(told);
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

test('1,000 pending lookups do not delay the next one', async () => {
  const server = await startNameServer(({ name }) =>
    name === 'a.example' ? { addresses: [v4] } : 'silence',
  );
  onTestFinished(server.close);
  const lookUp = look([server]);
  let ended = 0;
  for (let i = 0; i < 1_000; i += 1) lookUp(`${i}.example`).then(() => (ended += 1));
  await expect.poll(() => server.asked.length).toBeGreaterThan(200);
  expect(await lookUp()).toEqual([v4]);
  expect(ended).toBe(0);
});

/** A lookup that returns when the test says so. */
function manualLookup() {
  const asked: { name: string; answer: () => void }[] = [];
  const lookup: Lookup = (name) =>
    new Promise((resolve) => {
      asked.push({ name, answer: () => resolve([{ address: '93.184.216.34', family: 4 }]) });
    });
  return { asked, lookup };
}

describe('lookups', () => {
  test('of one name are shared while in progress', async () => {
    const { asked, lookup } = manualLookup();
    const { lookup: shared } = sharedLookup(lookup);
    const lookups = [1, 2, 3].map(() => shared('a.example'));
    expect(asked.map(({ name }) => name)).toEqual(['a.example']);
    asked[0]?.answer();
    expect(await Promise.all(lookups)).toEqual(Array(3).fill([{ address: '93.184.216.34', family: 4 }]));
    shared('a.example');
    expect(asked).toHaveLength(2);
  });

  test('cannot be cancelled: after the client leaves, the expansion continues until the lookup ends', async () => {
    const { asked, lookup } = manualLookup();
    const metrics = new Registry();
    const { expand } = testExpander({ lookup, metrics });
    const leave = new AbortController();
    const expansion = expand.chain('http://a.example/', { signal: leave.signal });
    await expect.poll(() => asked.length).toBe(1);
    leave.abort();
    expect((await expansion).error?.code).toBe('aborted');
    // Without the wait for the lookup, the expansion would end in this turn.
    await setImmediate();
    expect(await metrics.metrics()).toMatch(/^expander_expansions_in_flight 1$/m);
    asked[0]?.answer();
    await expect.poll(() => metrics.metrics()).toMatch(/^expander_expansions_in_flight 0$/m);
  });

  test('of a client that leaves are at most 128 at a time, and delay no other client', async () => {
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
