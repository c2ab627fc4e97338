import { execFileSync, spawnSync } from 'node:child_process';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { type AccessLine, doorMetrics } from './door.ts';

const line = (change: Partial<AccessLine>): string =>
  JSON.stringify({
    service: 'proxy',
    msg: 'request',
    application: 'tasks',
    method: 'GET',
    path: '/',
    status: 200,
    seconds: 0.002,
    cache: '',
    limit: '',
    upstreamSeconds: '0.001',
    upstreamHeaderSeconds: '0.001',
    cacheStatus: '',
    ...change,
  });

/** What is exported after these lines: the names, labels and values of counters that counted. */
async function counted(lines: string[], name: RegExp): Promise<string[]> {
  const metrics = new Registry();
  lines.forEach(doorMetrics(metrics));
  return (await metrics.metrics()).split('\n').filter((text) => name.test(text) && !text.endsWith(' 0'));
}

/** What nginx answers itself. */
const own = { upstreamSeconds: '', upstreamHeaderSeconds: '' };

describe('At the door', () => {
  test.each<[string, Partial<AccessLine>, string]>([
    ['a page', {}, 'application="tasks",route="/",method="GET",status="200",answered_by="service"'],
    [
      'one limited',
      { application: 'expander', path: '/api', status: 429, limit: 'REJECTED', ...own },
      'application="expander",route="/api",method="GET",status="429",answered_by="proxy",limit="REJECTED"',
    ],
    [
      'one from the edge cache',
      { application: 'expander', path: '/api', cache: 'HIT', ...own },
      'application="expander",route="/api",method="GET",status="200",answered_by="cache",cache="HIT"',
    ],
    [
      'one too large',
      { method: 'POST', path: '/task', status: 413, ...own },
      'application="tasks",route="/task",method="POST",status="413",answered_by="proxy"',
    ],
    [
      'a task',
      { path: '/tasks/17/edit' },
      'application="tasks",route="/tasks/:id/edit",method="GET",status="200",answered_by="service"',
    ],
    [
      'a path without a route',
      { path: '/wp-login.php', status: 404, method: 'PROPFIND' },
      'application="tasks",method="_OTHER",status="404",answered_by="service"',
    ],
    [
      'what is not for an application',
      { application: '', status: 400, ...own },
      'application="none",method="GET",status="400",answered_by="proxy"',
    ],
  ])('%s is counted', async (_, change, labels) => {
    expect(await counted([line(change)], /^door_requests_total/)).toEqual([
      `door_requests_total{${labels}} 1`,
    ]);
  });

  test('what is not answered is a failure; that a website did not answer is an answer', async () => {
    const expander = { application: 'expander', path: '/api' };
    const lines = [
      line({ status: 503 }),
      line({ status: 504, upstreamSeconds: '10.0', upstreamHeaderSeconds: '-' }),
      line({ ...expander, status: 502 }),
      line({ ...expander, status: 504, cache: 'HIT', ...own }),
      line({ ...expander, status: 502, upstreamSeconds: '0.0, 0.0', upstreamHeaderSeconds: '-, -' }),
      line({ ...expander, status: 503 }),
      line({ status: 499, ...own }),
      line({ status: 404 }),
    ];
    expect(await counted(lines, /^door_failures_total/)).toEqual([
      'door_failures_total{application="expander"} 2',
      'door_failures_total{application="tasks"} 2',
    ]);
  });

  test('hits are expansions for which no website was asked', async () => {
    const api = { application: 'expander', path: '/api' };
    const lines = [
      line({ ...api, cache: 'HIT', ...own }),
      line({ ...api, cache: 'MISS', cacheStatus: 'Longhand; hit' }),
      line({ ...api, cache: 'MISS' }),
      line({}),
    ];
    expect(await counted(lines, /^door_hit_duration_seconds_count/)).toEqual([
      'door_hit_duration_seconds_count{application="expander"} 2',
    ]);
  });

  test('the attempts of a request add up, and event streams have no duration', async () => {
    const lines = [
      line({ upstreamSeconds: '0.500, - : 0.250' }),
      line({ path: '/tasks/events', seconds: 600, upstreamSeconds: '600.0' }),
    ];
    expect(await counted(lines, /^door_(request|upstream)_duration_seconds_sum/)).toEqual([
      'door_request_duration_seconds_sum{application="tasks",route="/"} 0.002',
      'door_upstream_duration_seconds_sum{application="tasks"} 0.75',
    ]);
  });

  test('other output is ignored, and a line that cannot be read is counted', async () => {
    const lines = [
      'nginx: [warn] something',
      '{"service":"proxy","msg',
      '{"service":"tasks","msg":"request"}',
    ];
    expect(await counted(lines, /^door_\w+(\{.*)? [1-9]/)).toEqual(['door_lines_unread_total 1']);
  });

  test('whatever clients send, the number of series is bounded, and promtool accepts them', async () => {
    const random = randomNumbers();
    const pick = <Value>(...values: Value[]) => values[Math.floor(random() * values.length)] as Value;
    const text = () => pick('', '/', 'x', '"', '\u2028', '{}', '__proto__') + Math.floor(random() * 1e9);
    const metrics = new Registry();
    const count = doorMetrics(metrics);
    for (let i = 0; i < 4_000; i += 1) {
      count(
        line({
          application: pick('expander', 'tasks', ''),
          method: pick('GET', 'POST', 'BREW', text()),
          path: pick(
            `/${text()}`,
            `/tasks/${text()}`,
            `/task/${text()}/finish`,
            `/public/${text()}`,
            '/api',
            '/',
          ),
          status: pick(200, 404, 429, 503),
          cache: pick('', 'HIT', text()),
          limit: pick('', 'PASSED', text()),
          ...pick<Partial<AccessLine>>(own, {}),
        }),
      );
    }
    const series = (await metrics.metrics()).match(/^door_requests_total/gm)?.length;
    // 9 places, 3 methods, 4 statuses, 3 that answer, with and without HIT and PASSED.
    expect(series).toBeLessThan(9 * 3 * 4 * 3 * 2 * 2);
    if (spawnSync('promtool', ['--version']).error) return;
    execFileSync('promtool', ['check', 'metrics'], { input: await metrics.metrics() });
  });
});
