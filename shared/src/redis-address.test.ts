import { expect, test } from 'vitest';
import { readEnv } from './env.ts';
import { redisAddress, redisVariables } from './redis-address.ts';

test.each([
  ['redis://cache', { host: 'cache', port: 6379, db: 0 }],
  ['redis://127.0.0.1:6380/3', { host: '127.0.0.1', port: 6380, db: 3 }],
  ['redis://[::1]:6380?db=3', { host: '::1', port: 6380, db: 3 }],
  ['rediss://ann:s%40cret@cache/', { tls: {}, username: 'ann', password: 's@cret' }],
  ['redis://:secret@cache', { password: 'secret' }],
  ['unix:/run/redis.sock', { path: '/run/redis.sock' }],
  [
    'redis+sentinel://a,b:26380,[::1]/tasks',
    {
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
        { host: '::1', port: 26379 },
      ],
      name: 'tasks',
      db: 0,
    },
  ],
  ['rediss+sentinel://a/tasks?db=2', { name: 'tasks', tls: {}, db: 2 }],
])('%s is read', (url, address) => {
  expect(redisAddress(url)).toMatchObject(address);
});

test.each([
  ['http://cache', 'is not a redis://, redis+sentinel:// (rediss for TLS) or unix: URL'],
  ['redis://', 'is not a redis://'],
  ['redis://cache?family=6', 'is not a redis://'],
  ['redis://cache:0x1', 'names cache:0x1, which is not a host and port'],
  ['redis://cache:99999', 'names cache:99999, which is not a host and port'],
  ['redis://cache/tasks', 'names a database that is not a number'],
  ['redis://a,b', 'names several servers'],
  ['redis+sentinel://a,b', 'does not name the primary'],
  ['redis+cluster://a:7000', 'is not a redis://'],
])('%s is refused, with the name of the variable', (url, reason) => {
  const read = () => readEnv(redisVariables, { REDIS_URL: url });
  expect(read).toThrow(`REDIS_URL=${url}: `);
  expect(read).toThrow(reason);
});

test('the password of a URL that is refused is in no message', () => {
  const read = () => readEnv(redisVariables, { REDIS_URL: 'redis://ann:secret@a,b' });
  expect(read).toThrow('REDIS_URL=redis://***@a,b: names several servers');
});
