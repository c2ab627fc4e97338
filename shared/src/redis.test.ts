import { once } from 'node:events';
import { join, relative } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testCertificate } from '../testing/certificate.ts';
import { freePort } from '../testing/free-port.ts';
import { logged } from '../testing/logged.ts';
import { startRedisProcess, type TestRedis } from '../testing/redis.ts';
import { testFolder, textFile } from '../testing/text-file.ts';
import { cacheClient, redisState, type StoreClient, storeClient, timedOperations } from './redis.ts';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedisProcess('tasks/redis.conf');
});
afterAll(() => server.stop());

/** Creates a client that disconnects when the test ends. */
function connect(make: typeof storeClient, log = logged().log, access: object = {}) {
  const client = make({ REDIS_URL: server.url, ...access }, log);
  onTestFinished(() => client.disconnect());
  return client;
}

const ready = (client: StoreClient) => expect.poll(() => client.status).toBe('ready');

describe.each([
  ['cache', cacheClient, 0],
  ['store', storeClient, 1],
] as const)('The %s client', (_, make, maxRetriesPerRequest) => {
  test('fails within a second while Redis hangs', async () => {
    const client = connect(make);
    await ready(client);
    await server.pause();
    await expect(client.get('x')).rejects.toThrow('timed out');
    const { retryStrategy, ...options } = client.options;
    expect(options).toMatchObject({ commandTimeout: 1_000, connectTimeout: 1_000, maxRetriesPerRequest });
    expect(retryStrategy?.(1_000)).toBe(1_000);
    await server.resume();
    await expect.poll(() => client.get('x').catch(String)).toBe(null);
  });

  test('logs each outage once and reconnects', async () => {
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
});

test('a store client does not repeat a command after losing the connection', async () => {
  const [client, admin] = [connect(storeClient), connect(cacheClient)];
  await Promise.all([ready(client), ready(admin)]);
  // BLPOP blocks the connection.
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

test('a cache client fails immediately until it is connected', async () => {
  await expect(connect(cacheClient).get('x')).rejects.toThrow('enableOfflineQueue');
});

test('a password in the URL overrides the password file and is not logged', async () => {
  const password = 'not in any log line';
  const admin = connect(storeClient);
  await admin.config('SET', 'requirepass', password);
  onTestFinished(async () => void (await admin.config('SET', 'requirepass', '')));
  const { lines, log } = logged();
  const ping = (access: object) => connect(storeClient, log, access).ping().catch(String);
  expect(await ping({ REDIS_PASSWORD_FILE: password })).toBe('PONG');
  const REDIS_URL = server.url.replace('://', `://:${encodeURIComponent(password)}@`);
  expect(await ping({ REDIS_URL, REDIS_PASSWORD_FILE: 'of another Redis' })).toBe('PONG');
  expect(await ping({})).toContain('NOAUTH');
  expect(decodeURIComponent(JSON.stringify(lines))).not.toContain(password);
});

test.each<[string, (redis: StoreClient) => Promise<unknown>, setUp?: string]>([
  ['WRONGPASS', (redis) => redis.call('AUTH', 'ann', 'secret')],
  ['OOM', (redis) => redis.set('title', 'secret'), 'CONFIG SET maxmemory 1'],
  ['READONLY', (redis) => redis.set('title', 'secret'), 'REPLICAOF 127.0.0.1 1'],
  ['ERR user_script', (redis) => redis.eval('return ARGV[1] + 1', 0, 'secret')],
  ['ERR unknown command', (redis) => redis.call('NOSUCH', 'secret')],
])("a logged error omits its command's arguments: %s", async (message, act, setUp = 'PING') => {
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
});

test('a client connects over TLS with a client certificate and a user', async () => {
  const { key, cert } = await testCertificate();
  const file = textFile(cert);
  const port = await freePort();
  const tls = `--tls-port ${port} --tls-key-file ${textFile(key)} --tls-cert-file ${file} --tls-ca-cert-file ${file}`;
  const user = '--user ann on >secret ~* &* +@all';
  const other = await startRedisProcess('tasks/redis.conf', ...tls.split(' '), ...user.split(' '));
  onTestFinished(() => other.stop());
  const full = {
    REDIS_URL: `rediss://localhost:${port}`,
    REDIS_CA_FILE: cert,
    REDIS_CERT_FILE: cert,
    REDIS_KEY_FILE: key,
    REDIS_USER_FILE: 'ann',
    REDIS_PASSWORD_FILE: 'secret',
  };
  const { lines, log } = logged();
  const whoAmI = (wrong: object) => connect(storeClient, log, { ...full, ...wrong }).call('ACL', 'WHOAMI');
  expect(await whoAmI({})).toBe('ann');
  await expect(whoAmI({ REDIS_CA_FILE: '' })).rejects.toThrow();
  await expect(whoAmI({ REDIS_CERT_FILE: '', REDIS_KEY_FILE: '' })).rejects.toThrow();
  await expect(whoAmI({ REDIS_PASSWORD_FILE: 'a secret' })).rejects.toThrow();
  expect(JSON.stringify(lines)).toContain('WRONGPASS');
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('a client connects even if Sentinel announces a new primary at the same time', async () => {
  const monitored = `sentinel monitor tasks 127.0.0.1 ${new URL(server.url).port} 1`;
  const sentinel = await startRedisProcess(textFile(monitored), '--sentinel');
  onTestFinished(() => sentinel.stop());
  const { host } = new URL(sentinel.url);
  const first = connect(storeClient, logged().log, { REDIS_URL: `redis+sentinel://${host}/tasks` });
  const client = first.duplicate();
  onTestFinished(() => client.disconnect());
  await ready(client);
  const { failoverDetector } = Reflect.get(client, 'connector');
  const announce = () => failoverDetector.sentinels[0].client.emit('message', '+switch-master');
  client.once('connecting', announce).stream.destroy();
  await once(client, 'connecting');
  await ready(client);
});

test('a client connects to a Unix socket, by an absolute or relative path', async () => {
  const path = join(testFolder(), 'redis.sock');
  const other = await startRedisProcess('tasks/redis.conf', '--unixsocket', path);
  onTestFinished(() => other.stop());
  for (const REDIS_URL of [`unix://${path}`, `unix:${relative('', path)}`])
    expect(await connect(storeClient, logged().log, { REDIS_URL }).ping()).toBe('PONG');
});

test('a gauge shows whether Redis replies', async () => {
  const registry = new Registry();
  let away = false;
  redisState(registry, () => (away ? Promise.reject(new Error('away')) : Promise.resolve('PONG')));
  expect(await registry.metrics()).toContain('longhand_redis_up 1');
  away = true;
  expect(await registry.metrics()).toContain('longhand_redis_up 0');
});

test('operation timings have the operation name and error code as labels', async () => {
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
