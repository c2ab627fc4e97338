import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testCertificate } from '../testing/certificate.ts';
import { freePort } from '../testing/free-port.ts';
import { logged } from '../testing/logged.ts';
import { startRedisProcess, type TestRedis } from '../testing/redis.ts';
import { textFile } from '../testing/text-file.ts';
import { cacheClient, redisState, type StoreClient, storeClient, timedOperations } from './redis.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedisProcess('tasks/redis.conf');
});
afterAll(() => server.stop());

const clients: StoreClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

function connect(make: typeof storeClient, log = logged().log) {
  const client = make({ REDIS_URL: server.url }, log);
  clients.push(client);
  return client;
}

const ready = (client: StoreClient) => expect.poll(() => client.status).toBe('ready');

describe.each([
  ['cache', cacheClient, 0],
  ['store', storeClient, 1],
] as const)('The client of a %s', (_, make, maxRetriesPerRequest) => {
  test('fails within a second if Redis hangs, and works again afterwards', async () => {
    const client = connect(make);
    await ready(client);
    await server.pause();
    await expect(client.get('x')).rejects.toThrow('timed out');
    expect(client.options.commandTimeout).toBeLessThanOrEqual(1_000);
    await server.resume();
    await expect.poll(() => client.get('x').catch(String)).toBe(null);
  });

  test('fails while Redis is down, logs that once, and works again by itself', async () => {
    const { log, lines } = logged();
    const client = connect(make, log);
    await ready(client);
    let attempts = 0;
    client.on('connecting', () => {
      attempts += 1;
    });
    for (const enough of [3, 6]) {
      await server.kill();
      await expect(client.get('x')).rejects.toThrow();
      await expect.poll(() => attempts).toBeGreaterThanOrEqual(enough);
      await server.start();
      await expect.poll(() => client.get('x').catch(String)).toBe(null);
    }
    const both = ['redis is down', 'redis is back'];
    expect(lines.map(({ msg }) => msg)).toEqual(['redis is connected', ...both, ...both]);
  });

  test('has 1 s per attempt to connect, and at most 1 s between attempts', () => {
    const { options } = connect(make);
    expect(options).toMatchObject({ connectTimeout: 1_000, maxRetriesPerRequest });
    expect(options.retryStrategy?.(1_000)).toBe(1_000);
  });
});

test('a store client does not repeat a command after a lost connection', async () => {
  const [client, admin] = [connect(storeClient), connect(cacheClient)];
  await Promise.all([ready(client), ready(admin)]);
  // Redis has the command, and waits.
  const popped = client.blpop('queue', 0).catch(String);
  const waiting = async () => /^id=(\d+).* cmd=blpop/m.exec(`${await admin.client('LIST')}`)?.[1] ?? '';
  await expect.poll(waiting).not.toBe('');
  const again = once(client, 'ready');
  await admin.client('KILL', 'ID', await waiting());
  await again;
  await admin.rpush('queue', 'item');
  expect(await popped).toContain('Error');
  expect(await admin.llen('queue')).toBe(1);
  await admin.del('queue');
});

test('a cache client fails at once until it is connected', async () => {
  await expect(connect(cacheClient).get('x')).rejects.toThrow('enableOfflineQueue');
});

test('a client logs in with its password; that of the URL takes precedence', async () => {
  const password = 'not in any log line';
  const admin = connect(storeClient);
  await admin.config('SET', 'requirepass', password);
  const { lines, log } = logged();
  try {
    const inUrl = server.url.replace('://', `://:${encodeURIComponent(password)}@`);
    for (const [REDIS_URL, REDIS_PASSWORD_FILE, reply] of [
      [server.url, password, 'PONG'],
      [inUrl, 'of another Redis', 'PONG'],
      [server.url, '', 'NOAUTH'],
    ] as const) {
      const client = storeClient({ REDIS_URL, REDIS_PASSWORD_FILE }, log);
      clients.push(client);
      expect(await client.ping().catch(String)).toContain(reply);
    }
  } finally {
    await admin.config('SET', 'requirepass', '');
  }
  expect(JSON.stringify(lines)).not.toContain(password);
});

test.each<[string, (redis: StoreClient) => Promise<unknown>, setUp?: string]>([
  ['WRONGPASS', (redis) => redis.call('AUTH', 'ann', 'secret')],
  ['OOM', (redis) => redis.set('title', 'secret'), 'CONFIG SET maxmemory 1'],
  ['READONLY', (redis) => redis.set('title', 'secret'), 'REPLICAOF 127.0.0.1 1'],
  ['ERR user_script', (redis) => redis.eval('return ARGV[1] + 1', 0, 'secret')],
  ['ERR unknown command', (redis) => redis.call('NOSUCH', 'secret')],
])(
  '%s: the log has message and stack of the error, without the arguments of its command',
  async (message, act, setUp = 'PING') => {
    const client = connect(storeClient);
    await client.call(...(setUp.split(' ') as [string]));
    const cause = await act(client).then(String, (error: Error) => error);
    await client.config('SET', 'maxmemory', 0);
    await client.replicaof('NO', 'ONE');
    const { lines, log } = logged();
    log.error({ err: new Error('not saved', { cause }) }, 'a request failed');
    const stack = expect.stringContaining('\n    at ');
    expect(lines).toMatchObject([
      { err: { cause: { type: 'ReplyError', message: expect.stringContaining(message), stack } } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  },
);

test('a client connects over TLS, with a certificate and a user', async () => {
  const { key, cert } = await testCertificate();
  const file = textFile(cert);
  const port = await freePort();
  const tls = `--tls-port ${port} --tls-key-file ${textFile(key)} --tls-cert-file ${file} --tls-ca-cert-file ${file}`;
  const user = '--user ann on >secret ~* &* +@all';
  const other = await startRedisProcess('tasks/redis.conf', ...tls.split(' '), ...user.split(' '));
  const full = {
    REDIS_URL: `rediss://localhost:${port}`,
    REDIS_CA_FILE: cert,
    REDIS_CERT_FILE: cert,
    REDIS_KEY_FILE: key,
    REDIS_USER_FILE: 'ann',
    REDIS_PASSWORD_FILE: 'secret',
  };
  const open = (missing: Partial<typeof full>) => {
    const client = storeClient({ ...full, ...missing }, log);
    clients.push(client);
    return client;
  };
  const { lines, log } = logged();
  expect(await open({}).call('ACL', 'WHOAMI')).toBe('ann');
  for (const missing of [
    { REDIS_CA_FILE: '' },
    { REDIS_CERT_FILE: '', REDIS_KEY_FILE: '' },
    { REDIS_PASSWORD_FILE: 'a secret' },
  ]) {
    await expect(open(missing).call('ACL', 'WHOAMI'), Object.keys(missing)[0]).rejects.toThrow();
  }
  expect(lines).toContainEqual(
    expect.objectContaining({
      err: expect.objectContaining({ message: expect.stringContaining('WRONGPASS') }),
    }),
  );
  expect(JSON.stringify(lines)).not.toContain('secret');
  for (const client of clients) client.disconnect();
  await other.stop();
});

test('a client connects even if Sentinel announces a new primary meanwhile', async () => {
  const monitored = `sentinel monitor tasks 127.0.0.1 ${new URL(server.url).port} 1`;
  const sentinel = await startRedisProcess(textFile(monitored), '--sentinel');
  onTestFinished(() => sentinel.stop());
  const { host } = new URL(sentinel.url);
  const client = storeClient({ REDIS_URL: `redis+sentinel://${host}/tasks` }, logged().log).duplicate();
  clients.push(client);
  await ready(client);
  const { failoverDetector } = Reflect.get(client, 'connector');
  const announce = () => failoverDetector.sentinels[0].client.emit('message', '+switch-master');
  client.once('connecting', announce).stream.destroy();
  await once(client, 'connecting');
  await ready(client);
});

test.each([
  ['unix:', 'relative'],
  ['unix://', 'absolute'],
])('a client connects to a socket at %s and its %s path', async (scheme, kind) => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-redis-'));
  const path = join(folder, 'redis.sock');
  const other = await startRedisProcess('tasks/redis.conf', '--unixsocket', path);
  const REDIS_URL = scheme + (kind === 'relative' ? relative('', path) : path);
  const client = storeClient({ REDIS_URL }, logged().log);
  clients.push(client);
  expect(await client.ping()).toBe('PONG');
  expect(client.options).toMatchObject({ path: expect.stringContaining('redis.sock') });
  client.disconnect();
  await other.stop();
  await rm(folder, { recursive: true });
});

test('a gauge shows whether Redis replies', async () => {
  const registry = new Registry();
  let away = false;
  redisState(registry, () => (away ? Promise.reject(new Error('away')) : Promise.resolve('PONG')));
  expect(await registry.metrics()).toContain('longhand_redis_up 1');
  away = true;
  expect(await registry.metrics()).toContain('longhand_redis_up 0');
});

test('operations are timed by name and by the code of their error, not its message', async () => {
  const registry = new Registry();
  const timed = timedOperations(registry);
  const refused = Object.assign(new Error('secret'), { code: 'ECONNREFUSED' });
  expect(await timed('show', async () => 'reply')).toBe('reply');
  await expect(timed('show', () => Promise.reject(refused))).rejects.toBe(refused);
  const text = await registry.metrics();
  const name = 'db_client_operation_duration_seconds_count{db_system_name="redis",db_operation_name="show"';
  expect(text).toContain(`${name}} 1`);
  expect(text).toContain(`${name},error_type="ECONNREFUSED"} 1`);
  expect(text).not.toContain('secret');
});
