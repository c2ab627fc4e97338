import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { startShortener } from '@longhand/shortener';
import { Redis } from 'ioredis';
import { zipf } from '../bench/zipf.ts';
import { textTable } from '../table.ts';
import { answerers, percent, type Shares, seed, shares, type Traffic, tiers } from './hit-rates.ts';

// Compares the simulation of docs/sizing.md with a stack, both from empty caches and with the same links in the same
// order:
//
//   node loadtest/sizing/real-run.ts

const traffic: Traffic = { links: 40_000, perSecond: 300, replicas: 1 };
const requests = 36_000;

/** Characters of a link, so many that a run of two minutes fills the caches; the edge keeps answers of up to 3,000. */
const length = 1_200;

/** Bytes of all entries in the memory of an expander (expander/src/cache/caches.ts), and beside the text of one. */
const memory = { size: 32 * 2 ** 20, overhead: 200 };

async function main(): Promise<void> {
  await using shortener = await startShortener();
  await using stack = await startTemporaryStack({ env: { ...process.env, LONGHAND_API_RATE: '9999999r/s' } });
  const redis = new Redis({ path: join(stack.operations.expander, '../expander-cache.sock') });
  try {
    const link = (n: number) => `${shortener.url}/chain/1?id=${`${n}`.padEnd(length, 'x')}`;
    const before = await answers(stack);
    await load(stack, link);
    const after = await answers(stack);
    const asked = [...shortener.requests.values()].reduce((sum, count) => sum + count, 0);
    const [fromMemory, fromRedis] = [after.memory - before.memory, after.redis - before.redis];
    // A chain is two requests.
    const real = { memory: fromMemory, redis: fromRedis, website: asked / 2 };
    const edge = requests - fromMemory - fromRedis - real.website;
    const sizes = { edge: tiers.edge, ...(await room(redis)) };
    print(shares(traffic, sizes, requests, 0), { edge, ...real }, sizes);
  } finally {
    redis.disconnect();
  }
}

/** Asks for the links at an even rate, whether or not the answers have come. */
async function load(stack: TemporaryStack, link: (n: number) => string): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const next = zipf(traffic.links, randomNumbers(seed));
  const ask = async (n: number) => {
    const request = http.get(`${stack.urls.expander}/api?u=${encodeURIComponent(link(n))}`, { agent });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    await text(response);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} for link ${n}`);
  };
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (let i = 0; i < requests; i += 1) {
    const wait = start + (1_000 * i) / traffic.perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    pending.push(ask(next()));
  }
  await Promise.all(pending);
  agent.destroy();
}

/** How many lookups each tier has answered so far. */
async function answers({ operations }: TemporaryStack): Promise<{ memory: number; redis: number }> {
  const [response] = await once(http.get({ socketPath: operations.expander, path: '/metrics' }), 'response');
  const metrics = await text(response);
  const of = (tier: string) => {
    const pattern = new RegExp(
      `^expander_cache_answers_total\\{(?=.*tier="${tier}")(?=.*result="hit").*\\} (\\d+)`,
      'm',
    );
    return Number(pattern.exec(metrics)?.[1] ?? 0);
  };
  return { memory: of('memory'), redis: of('redis') };
}

/** How many of these links have room in the memory of the expander, and in its Redis. */
async function room(redis: Redis) {
  const key = (await redis.randomkey()) as string;
  const inMemory =
    (await redis.strlen(key)) + key.replace(/^expansion:\d+ \[.*?\] /, '').length + memory.overhead;
  const [, max] = (await redis.config('GET', 'maxmemory')) as [string, string];
  const seconds = tiers.memory.seconds;
  return {
    memory: { keys: Math.floor(memory.size / inMemory), seconds },
    redis: { keys: Math.floor(Number(max) / Number(await redis.memory('USAGE', key))), seconds },
  };
}

function print(simulated: Shares, real: Shares, sizes: typeof tiers): void {
  const rows = answerers.map((name) => {
    const share = real[name] / requests;
    const room = name === 'website' ? '' : `${sizes[name].keys}`;
    return [
      name,
      room,
      percent(simulated[name]),
      percent(share),
      `${(100 * (share - simulated[name])).toFixed(1)}`,
    ];
  });
  console.log(textTable([['', 'answers kept', 'simulated', 'real', 'points'], ...rows]));
}

await main();
