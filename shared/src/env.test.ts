import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { textFile } from '../testing/text-file.ts';
import { integer, list, listenAddresses, readEnv, secretFile, serviceVariables } from './env.ts';
import { redisVariables } from './redis-address.ts';

const shape = {
  ...serviceVariables,
  REDIS_URL: redisVariables.REDIS_URL,
  SHOP_LIMIT: integer(1, 10).default(5),
  SHOP_NETWORKS: list(z.union([z.cidrv4(), z.cidrv6()], 'is not a CIDR')).default([]),
};
const own = { prefix: 'SHOP_', others: ['SHOP_URL'] };
const read = (env: Record<string, string>) => readEnv(shape, env, own);

test.each<[what: string, env: Record<string, string>, values: object]>([
  [
    'what is not set has its default',
    {},
    {
      HOST: '127.0.0.1',
      PORT: 3000,
      OPS_PORT: 9464,
      LOG_LEVEL: 'info',
      REDIS_URL: 'redis://127.0.0.1:6379/0',
      SHOP_LIMIT: 5,
      SHOP_NETWORKS: [],
    },
  ],
  ['an empty variable counts as not set', { PORT: '', SHOP_LIMIT: '' }, { PORT: 3000, SHOP_LIMIT: 5 }],
  [
    'values are read as what they mean',
    { PORT: '0', SHOP_LIMIT: '10', SHOP_NETWORKS: '127.0.0.0/8, ::1/128' },
    { PORT: 0, SHOP_LIMIT: 10, SHOP_NETWORKS: ['127.0.0.0/8', '::1/128'] },
  ],
  ["other programs' variables are left alone", { SHOP_URL: 'x', LONGHAND_PORT: 'x', HOME: '/' }, read({})],
])('%s', (_, env, values) => {
  expect(read(env)).toMatchObject(values);
});

test.each<[what: string, env: Record<string, string>, faults: string[]]>([
  [
    'bad values and unknown variables of ours are named together',
    { PORT: '80a', SHOP_LIMIT: '11', SHOP_NETWORKS: '10.0.0.0/8,10.1', SHOP_COLOUR: 'red', REDIS_URL: 'x' },
    [
      'SHOP_COLOUR: there is no such variable',
      'PORT=80a: is not a whole number',
      'REDIS_URL=x: is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL',
      'SHOP_LIMIT=11: is not from 1 to 10',
      'SHOP_NETWORKS=10.0.0.0/8,10.1: is not a CIDR',
    ],
  ],
  [
    'a password in a URL is not said, whatever is in it',
    { REDIS_URL: 'ftp://user:p@ss/word@redis' },
    ['REDIS_URL=ftp://***@redis: is not'],
  ],
  ...['-1', '65536', '8080 ', '0x50', '1e3', 'http'].map((PORT): [string, { PORT: string }, string[]] => [
    'a port',
    { PORT },
    ['PORT='],
  ]),
])('is a fault: %s (%o)', (_, env, faults) => {
  expect(() => read(env)).toThrow(['Invalid environment:', ...faults].join('\n  '));
});

test('a secret is read from a file, without the line break at its end', () => {
  const secret = (path?: string) => readEnv({ SECRET_FILE: secretFile }, path ? { SECRET_FILE: path } : {});
  expect(secret(textFile('open sesame\n'))).toEqual({ SECRET_FILE: 'open sesame' });
  expect(secret()).toEqual({ SECRET_FILE: '' });
  expect(() => secret('/nowhere')).toThrow('SECRET_FILE=/nowhere: cannot be read (ENOENT)');
});

test('a secret that its user may not read is an error with what lets him do so', () => {
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

describe('listenAddresses', () => {
  test('operations listen where the service does, on a port of their own', () => {
    expect(listenAddresses(read({ HOST: '127.0.0.2' }))).toEqual({
      service: { host: '127.0.0.2', port: 3000 },
      operations: { host: '127.0.0.2', port: 9464 },
    });
  });

  test('a socket path takes precedence over host and port, for each on its own', () => {
    const env = { PORT: '80', SOCKET_PATH: 'run/shop.sock', OPS_HOST: '127.0.0.3' };
    expect(listenAddresses(read(env))).toEqual({
      service: { path: 'run/shop.sock' },
      operations: { host: '127.0.0.3', port: 9464 },
    });
    expect(listenAddresses(read({ OPS_SOCKET_PATH: '/run/ops.sock' })).operations).toEqual({
      path: '/run/ops.sock',
    });
  });
});
