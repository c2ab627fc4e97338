import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { integer, list, listenAddresses, readEnv, secretFile, serviceVariables } from './env.ts';
import { otherVariables } from './other-variables.ts';
import { redisVariables } from './redis-address.ts';

const shape = {
  ...serviceVariables,
  REDIS_URL: redisVariables.REDIS_URL,
  SHOP_LIMIT: integer(1, 10).default(5),
  SHOP_NETWORKS: list(z.union([z.cidrv4(), z.cidrv6()], 'is not a CIDR')).default([]),
};
const read = (env: Record<string, string>) => readEnv(shape, env, ['SHOP_', 'LONGHAND_']);

describe('Environment', () => {
  test('what is not set has its default', () => {
    expect(read({})).toEqual({
      HOST: '127.0.0.1',
      PORT: 3000,
      OPS_PORT: 9464,
      LOG_LEVEL: 'info',
      REDIS_URL: 'redis://127.0.0.1:6379/0',
      SHOP_LIMIT: 5,
      SHOP_NETWORKS: [],
    });
  });

  test('an empty variable counts as not set', () => {
    expect(read({ PORT: '', SHOP_LIMIT: '' })).toMatchObject({ PORT: 3000, SHOP_LIMIT: 5 });
  });

  test('values are read as what they mean', () => {
    const env = { PORT: '0', SHOP_LIMIT: '10', SHOP_NETWORKS: '127.0.0.0/8, ::1/128' };
    expect(read(env)).toMatchObject({ PORT: 0, SHOP_LIMIT: 10, SHOP_NETWORKS: ['127.0.0.0/8', '::1/128'] });
  });

  test('bad values and unknown variables of ours are named together', () => {
    const env = {
      PORT: '80a',
      SHOP_LIMIT: '11',
      SHOP_NETWORKS: '10.0.0.0/8,10.1',
      SHOP_LIMITS: '3',
      REDIS_URL: 'x',
    };
    expect(() => read(env)).toThrow(
      [
        'Invalid environment:',
        '  SHOP_LIMITS: there is no such variable',
        '  PORT=80a: is not a whole number',
        '  REDIS_URL=x: is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL',
        '  SHOP_LIMIT=11: is not from 1 to 10',
        '  SHOP_NETWORKS=10.0.0.0/8,10.1: is not a CIDR',
      ].join('\n'),
    );
  });

  test("the stack's own variables and those of others are left alone", () => {
    expect(() =>
      read({ LONGHAND_PORT: '9000', LONGHAND_API_RATE: '10r/s', HOME: '/', PATH: '/bin' }),
    ).not.toThrow();
  });

  test('a misspelt variable of the stack is a fault', () => {
    expect(() => read({ LONGHAND_PROT: '9000' })).toThrow('LONGHAND_PROT: there is no such variable');
  });

  test('variables of other programs are left alone, such as those of an exported load test', () => {
    const others = Object.fromEntries(otherVariables.map((name) => [name, 'x']));
    expect(readEnv(shape, others, ['LONGHAND_', 'EXPANDER_', 'TASKS_'])).toEqual(read({}));
  });

  test('a password in a URL is not said, whatever is in it', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:p@ss/word@collector', REDIS_URL: 'redis:/' };
    expect(() => read(env)).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT=ftp://***@collector: is not');
  });

  test('a variable of the last release is left alone', () => {
    expect(read({ LONGHAND_SERVER_TIMING: 'on' })).toEqual(read({}));
  });

  test.each(['-1', '65536', '8080 ', '0x50', '1e3', 'http'])('PORT=%s is refused', (PORT) => {
    expect(() => read({ PORT })).toThrow('PORT=');
  });

  test('a secret is read from a file, without the line break at its end', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'secret-')), 'password');
    writeFileSync(path, 'open sesame\n');
    expect(readEnv({ SECRET_FILE: secretFile }, { SECRET_FILE: path }, [])).toEqual({
      SECRET_FILE: 'open sesame',
    });
    expect(readEnv({ SECRET_FILE: secretFile }, {}, [])).toEqual({ SECRET_FILE: '' });
    rmSync(dirname(path), { recursive: true });
    expect(() => readEnv({ SECRET_FILE: secretFile }, { SECRET_FILE: path }, [])).toThrow(
      `SECRET_FILE=${path}: cannot be read (ENOENT)`,
    );
  });

  test('a path of a Unix socket has at most 107 bytes', () => {
    const longest = 'x'.repeat(107);
    expect(read({ SOCKET_PATH: longest, REDIS_URL: `unix:${longest}` })).toMatchObject({
      SOCKET_PATH: longest,
      REDIS_URL: `unix:${longest}`,
    });
    expect(() => read({ SOCKET_PATH: `${longest}x` })).toThrow('SOCKET_PATH=x');
    expect(() => read({ REDIS_URL: `unix:${longest}x` })).toThrow('REDIS_URL=unix:x');
  });
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
