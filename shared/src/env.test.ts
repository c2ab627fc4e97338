import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { textFile } from '../testing/text-file.ts';
import { integer, list, listenAddresses, readEnv, secretFile, serviceVariables } from './env.ts';
import { redisAddress, redisVariables } from './redis-address.ts';

const shape = {
  ...serviceVariables,
  REDIS_URL: redisVariables.REDIS_URL,
  SHOP_LIMIT: integer(1, 10).default(5),
  SHOP_NETWORKS: list(z.union([z.cidrv4(), z.cidrv6()], 'is not a CIDR')).default([]),
};
const read = (env: Record<string, string>) => readEnv(shape, env, { prefix: 'SHOP_', others: ['SHOP_URL'] });
const defaults = { HOST: '127.0.0.1', PORT: 3000, OPS_PORT: 9464, LOG_LEVEL: 'info' };

test.each<[_: string, env: Record<string, string>, values: object]>([
  ['defaults', {}, { ...defaults, REDIS_URL: 'redis://127.0.0.1:6379/0', SHOP_LIMIT: 5, SHOP_NETWORKS: [] }],
  ['empty variables as unset', { PORT: '', SHOP_LIMIT: '', SHOP_COLOUR: '' }, { PORT: 3000, SHOP_LIMIT: 5 }],
  [
    'numbers and lists',
    { PORT: '0', SHOP_LIMIT: '10', SHOP_NETWORKS: '127.0.0.0/8, ::1/128' },
    { PORT: 0, SHOP_LIMIT: 10, SHOP_NETWORKS: ['127.0.0.0/8', '::1/128'] },
  ],
  ['no variables of other programs', { SHOP_URL: 'x', LONGHAND_PORT: 'x', HOME: '/' }, read({})],
])('readEnv reads %s', (_, env, values) => {
  expect(read(env)).toMatchObject(values);
});

test.each<[what: string, env: Record<string, string>, faults: string[]]>([
  [
    'invalid and unknown variables, all in one message',
    { PORT: '80a', SHOP_LIMIT: '11', SHOP_NETWORKS: '10.0.0.0/8,10.1', SHOP_COLOUR: 'red', REDIS_URL: 'x' },
    [
      'SHOP_COLOUR: unknown variable',
      'PORT=80a: is not a whole number',
      'REDIS_URL=x: is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL',
      'SHOP_LIMIT=11: is not from 1 to 10',
      'SHOP_NETWORKS=10.0.0.0/8,10.1: is not a CIDR',
    ],
  ],
  [
    'a URL, without printing its password',
    { REDIS_URL: 'ftp://user:p@ss/word@redis' },
    ['REDIS_URL=ftp://***@redis: is not'],
  ],
  ...['-1', '65536', '8080 ', '0x50', '1e3', 'http'].map((PORT): [string, { PORT: string }, string[]] => [
    'a port',
    { PORT },
    ['PORT='],
  ]),
])('readEnv refuses %s (%o)', (_, env, faults) => {
  expect(() => read(env)).toThrow(['Invalid environment:', ...faults].join('\n  '));
});

test("a secret is a file's content without the final line break", () => {
  const secret = (path?: string) => readEnv({ SECRET_FILE: secretFile }, path ? { SECRET_FILE: path } : {});
  expect(secret(textFile('open sesame\n'))).toEqual({ SECRET_FILE: 'open sesame' });
  expect(secret()).toEqual({ SECRET_FILE: '' });
  expect(() => secret('/nowhere')).toThrow('SECRET_FILE=/nowhere: cannot be read (ENOENT)');
});

test('the error for an unreadable secret includes a command to fix it', () => {
  const path = textFile('open sesame\n');
  chmodSync(path, 0o000);
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(1000);
  try {
    const cure = `: chown ${process.getuid?.()} FILE && chmod 400 FILE`;
    const read = () => readEnv({ SECRET_FILE: secretFile }, { SECRET_FILE: path });
    expect(read).toThrow(`SECRET_FILE=${path}: cannot be read (EACCES)${cure}`);
  } finally {
    if (root) process.seteuid?.(0);
  }
});

test("listenAddresses() by default serves operations endpoints on the service's host", () => {
  const operations = { host: '127.0.0.2', port: 9464 };
  const service = { host: '127.0.0.2', port: 3000 };
  expect(listenAddresses(read({ HOST: '127.0.0.2' }))).toEqual({ service, operations });
});

test('listenAddresses() prefers a socket path to the host and port', () => {
  const operations = { host: '127.0.0.2', port: 9464 };
  const socket = { HOST: '127.0.0.1', SOCKET_PATH: 'run/shop.sock', OPS_HOST: '127.0.0.2' };
  expect(listenAddresses(read(socket))).toEqual({ service: { path: 'run/shop.sock' }, operations });
  const { operations: path } = listenAddresses(read({ OPS_SOCKET_PATH: '/run/ops.sock' }));
  expect(path).toEqual({ path: '/run/ops.sock' });
});

const sentinel = (host: string, port = 26_379) => ({ host, port });

test.each([
  ['redis://cache', { host: 'cache', port: 6379, db: 0 }],
  ['redis://127.0.0.1:6380/3', { host: '127.0.0.1', port: 6380, db: 3 }],
  ['redis://[::1]:6380?db=3', { host: '::1', port: 6380, db: 3 }],
  ['rediss://ann:s%40cret@cache/', { tls: {}, username: 'ann', password: 's@cret' }],
  ['redis://:secret@cache', { password: 'secret' }],
  ['unix:/run/redis.sock', { path: '/run/redis.sock' }],
  [
    'redis+sentinel://a,b:26380,[::1]/tasks',
    { sentinels: [sentinel('a'), sentinel('b', 26_380), sentinel('::1')], name: 'tasks', db: 0 },
  ],
  ['rediss+sentinel://a/tasks?db=2', { name: 'tasks', tls: {}, db: 2 }],
])('%s is a Redis address', (url, address) => {
  expect(redisAddress(url)).toMatchObject(address);
});

test.each([
  ['http://cache', 'is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL'],
  ['redis://', 'is not a redis://'],
  ['redis://cache?family=6', 'is not a redis://'],
  ['redis://cache:0x1', 'has an invalid server address: cache:0x1'],
  ['redis://cache:99999', 'has an invalid server address: cache:99999'],
  ['redis://cache/tasks', 'has a database that is not a number'],
  ['redis://a,b', 'has several servers'],
  ['redis+sentinel://a,b', "lacks the primary's name"],
  ['redis+cluster://a:7000', 'is not a redis://'],
])('%s is not a Redis address', (url, reason) => {
  const read = () => readEnv(redisVariables, { REDIS_URL: url });
  expect(read).toThrow(`REDIS_URL=${url}: `);
  expect(read).toThrow(reason);
});
