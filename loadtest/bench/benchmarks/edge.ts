import { randomUUID } from 'node:crypto';
import { type Shortener, startShortener } from '@longhand/shortener';
import autocannon from 'autocannon';
import { cpuTime } from '../../machine/process-usage.ts';
import { hitRate } from '../../sizing/hit-rates.ts';
import { httpCandidate } from '../http-candidate.ts';
import { spread } from '../measure.ts';
import { type Nginx, startNginx, without } from '../nginx.ts';
import { integer, type Result } from '../report.ts';
import { type Service, startService } from '../services.ts';
import { startWorker } from '../worker.ts';
import { zipf } from '../zipf.ts';

export const title = 'Edge: a crowd for one link, and how long an answer is kept';

export async function run(): Promise<Result[]> {
  return [await crowd(), await hitRates()];
}

const clients = 1_000;
/** Four redirects and the target, 100 ms each. */
const chain = '/chain/4?delay=100';
const crowds = 5;

/** What makes one chain of many requests, and without it. */
const hash = 'hash $arg_u consistent;';
const lock = /^proxy_cache_lock\w* .*\n/gm;
const configurations: Record<string, (text: string, file: string) => string> = {
  'as it is: hash, and a lock that nobody waits for': (text) => text,
  '256 connections kept instead of 64': (text) => text.replace('keepalive 64', 'keepalive 256'),
  'hash alone': without(lock),
  'a lock that all wait for, no hash': (text) =>
    text.replace('proxy_cache_lock_timeout 0', 'proxy_cache_lock_timeout 5s').replace(hash, ''),
  neither: without(lock, hash),
};

/** Many clients ask for one cold link at once, through three replicas. */
async function crowd(): Promise<Result> {
  await using shortener = await startShortener();
  await using first = await startService('expander');
  await using second = await startService('expander', first.redis);
  await using third = await startService('expander', first.redis);
  const replicas = [first, second, third];
  await warmUp(replicas, shortener.url);
  const rows = [];
  for (const [name, edit] of Object.entries(configurations)) {
    await using nginx = await startNginx({ expander: replicas.map(({ url }) => url) }, edit);
    rows.push({ name, results: await gather(nginx, replicas, shortener) });
  }
  return crowdResult(rows);
}

type Crowd = Record<'own' | 'chains' | 'p50' | 'p99' | 'ratio' | 'cpu', number>;

/** One crowd after the other, each for a link of its own. */
async function gather(nginx: Nginx, replicas: Service[], shortener: Shortener): Promise<Crowd[]> {
  await using crowd = await startWorker('crowd.ts', new URL(nginx.urls.expander).port, `${clients}`);
  const ask = async (alone: boolean) => {
    const path = `/api?u=${encodeURIComponent(`${shortener.url + chain}&id=${randomUUID()}`)}`;
    return (await crowd.call<number[]>({ path, alone })).toSorted((a, b) => a - b);
  };
  const chains = () => shortener.requests.get('HEAD /chain/4') ?? 0;
  const cpu = () => [nginx, ...replicas].reduce((sum, { pid }) => sum + cpuTime(pid), 0) / 1_000;
  const results: Crowd[] = [];
  for (let i = 0; i < crowds; i += 1) {
    const [own = Number.NaN] = await ask(true);
    const before = { chains: chains(), cpu: cpu() };
    const times = await ask(false);
    const at = (quantile: number) => times[Math.floor(clients * quantile)] ?? Number.NaN;
    results.push({
      ...{ own, p50: at(0.5), p99: at(0.99), ratio: at(0.99) / own },
      chains: chains() - before.chains,
      cpu: cpu() - before.cpu,
    });
  }
  return results;
}

/** Until the compiler has done its work, an expander takes several times as long. */
async function warmUp(replicas: Service[], shortener: string): Promise<void> {
  let id = 0;
  for (const { url } of replicas) {
    const path = () => `/api?u=${encodeURIComponent(`${shortener}/chain/1?warm=${id++ >> 3}`)}`;
    await httpCandidate({ name: '', url, connections: 100, path }).load(4);
  }
}

function crowdResult(rows: { name: string; results: Crowd[] }[]): Result {
  const over = (results: Crowd[], key: keyof Crowd) => spread(results.map((crowd) => crowd[key]));
  const ours = rows[0]?.results ?? [];
  return {
    title: `One cold link, ${integer(clients)} clients at once, three replicas: ms, the median of ${crowds} crowds`,
    columns: ['', 'chains sent out', 'one client', 'p50', 'p99', 'highest p99', 'p99 / one client', 'CPU ms'],
    rows: rows.map(({ name, results }) => [
      name,
      `${over(results, 'chains').max}`,
      integer(over(results, 'own').median),
      integer(over(results, 'p50').median),
      integer(over(results, 'p99').median),
      integer(over(results, 'p99').max),
      over(results, 'ratio').median.toFixed(2),
      integer(over(results, 'cpu').median),
    ]),
    plot: {
      unit: 'p99 in ms',
      bars: rows.map(({ name, results }) => ({ name, ...over(results, 'p99') })),
    },
    goals: [
      { text: 'chains sent out', measured: over(ours, 'chains').max, atMost: 1 },
      { text: 'p99 against the chain’s own time', measured: over(ours, 'ratio').median, atMost: 1.2 },
    ],
    data: rows,
  };
}

const links = 100_000;
const perSecond = 2_000;
/** As many as the zone of the edge cache has keys for. */
const keys = 16_000;
const lifetimes = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
/** Lifetimes that are also measured, each with an nginx of its own, to see that the computation is right. */
const measured = [2, 5, 10, 20, 30];

async function hitRates(): Promise<Result> {
  // They may run side by side, because no time is measured.
  const real = await Promise.all(measured.map(measureHitRate));
  const rows = lifetimes.map((seconds) => ({
    seconds,
    computed: hitRate({ links, perSecond, keys, seconds }),
    real: real[measured.indexOf(seconds)]?.toFixed(3) ?? '',
  }));
  return {
    title: `Hit rate of the edge by lifetime: Zipf (s = 1), ${integer(links)} links, ${integer(perSecond)} requests/s`,
    columns: ['', ...rows.map(({ seconds }) => `${seconds} s`)],
    rows: [
      ['computed', ...rows.map(({ computed }) => computed.toFixed(3))],
      ['measured', ...rows.map(({ real }) => real)],
    ],
    plot: {
      unit: 'hit rate',
      bars: rows.map(({ seconds, computed }) => ({ name: `${seconds} s`, ...spread([computed]) })),
    },
    goals: [],
    data: rows,
  };
}

/** The share of requests that nginx answers itself, once it has run for twice the lifetime. */
async function measureHitRate(seconds: number): Promise<number> {
  await using upstream = await startWorker('lifetime.ts', `${seconds}`);
  await using nginx = await startNginx({ expander: upstream.url });
  const next = zipf(links);
  const load = (duration: number) =>
    autocannon({
      url: nginx.urls.expander,
      connections: 32,
      duration,
      overallRate: perSecond,
      requests: [{ setupRequest: (request) => ({ ...request, path: `/api?u=${next()}` }) }],
    });
  await load(2 * seconds);
  const before = await upstream.call<number>('requests');
  const { requests } = await load(10);
  return 1 - ((await upstream.call<number>('requests')) - before) / requests.total;
}
