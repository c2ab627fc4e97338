import { send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { scriptedApplication, startProxied } from './testing/proxied.ts';

describe('A request line', async () => {
  const application = scriptedApplication();
  const proxy = await startProxied(application.server);
  afterAll(proxy.stop);
  const { all, expander, tasks } = proxy.ports;

  /** Returns a target that makes a request line of `length` bytes. */
  const target = (start: string, length: number, end = '') =>
    start + 'x'.repeat(length - `GET ${start}${end} HTTP/1.1`.length) + end;

  const servers: [name: string, port: number, host: string | undefined, limit: number][] = [
    ['expander', expander, undefined, 16_384],
    ['expander by name', all, 'expander.localhost', 16_384],
    ['tasks', tasks, undefined, 8_192],
    ['tasks by name', all, 'tasks.localhost', 8_192],
  ];

  test.each(servers)('to %s may be as long as its limit', async (_, port, host, limit) => {
    const path = target('/?u=', limit);
    expect((await send(port, path, { host })).status).toBe(200);
    expect(application.arrived.at(-1)?.url).toBe(path);
    const before = application.arrived.length;
    for (const length of [limit + 1, 31_000]) {
      const { status, headers, body } = await send(port, target('/?u=', length), { host });
      expect([status, headers['content-type']]).toEqual([414, 'text/html']);
      expect(body).toContain('<h1>The address is too long.</h1>');
    }
    expect(application.arrived).toHaveLength(before);
  });

  const text = 'The URL is longer than 8192 bytes.';
  const api = [
    ['/api?u=', '', 'text/html', text],
    ['/api?u=', '&cb=show', 'text/html', text],
    ['/api?format=json&u=', '', 'text/html', { code: 'invalid_url', message: text }],
    [
      '/api/chain?u=',
      '',
      'application/json',
      { error: { code: 'invalid_url', message: text, reason: 'too_long' } },
    ],
  ] as const;

  describe.each(servers.slice(0, 2))('to the API of %s', (_, port, host) => {
    // nginx reads at most 32 KiB, before it knows the host.
    test.each(api.flatMap((one) => [16_385, 31_000, 40_000].map((length) => [...one, length] as const)))(
      'that is too long for %s%s returns 400 invalid_url as %s',
      async (start, end, type, expected, length) => {
        const { status, headers, body } = await send(port, target(start, length, end), { host });
        expect(status).toBe(400);
        expect(headers).toMatchObject({
          'x-power-by': 'Longhand',
          'content-type': type,
          'access-control-allow-origin': '*',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'content-security-policy': expect.stringMatching(/^default-src 'none'/),
        });
        if (typeof expected === 'string') expect(body).toBe(expected);
        else expect(JSON.parse(body)).toMatchObject(expected);
      },
    );

    test('finds format=json after the URL', async () => {
      const { status, body } = await send(port, target('/api?u=', 20_000, '&format=json'), { host });
      expect([status, JSON.parse(body)]).toEqual([400, { code: 'invalid_url', message: text }]);
    });
  });
});
