import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { type Candidate, compare, cpuRatio, spread } from '../measure.ts';
import type { Result } from '../report.ts';
import { startWorker } from '../worker.ts';

export const title = 'Agent: keep-alive and TCP no-delay';

const agents = ['ours', 'ours for undici', 'node', 'agentkeepalive', 'undici'];
/** Requests on one connection, and connections for each agent. */
const requests = 12;
const repetitions = 5;

export async function run(): Promise<Result[]> {
  await using plain = await startShortener();
  await using secure = await startShortener({ tls: await testCertificate() });
  return [await twoWrites('http', plain), await twoWrites('https', secure), await throughput()];
}

/** The latency of each of the first requests of a connection, when their bodies are sent in two writes. */
async function twoWrites(scheme: string, server: Shortener): Promise<Result> {
  const names = ['no-delay off', ...agents];
  const samples = new Map(names.map((name) => [name, [] as number[][]]));
  for (let i = 0; i < repetitions; i += 1) {
    for (const name of names) samples.get(name)?.push(await latencies(name, server));
  }
  const rows = [...samples].map(([name, runs]) => ({
    name,
    medians: Array.from({ length: requests }, (_, i) => spread(runs.map((run) => run[i] ?? 0)).median),
    later: spread(runs.flatMap((run) => run.slice(1))),
  }));
  const slowest = (name: string) =>
    Math.max(...(rows.find((row) => row.name === name)?.medians.slice(1) ?? []));
  return {
    title: `Two writes per request over ${scheme}: median ms of requests 1 to ${requests} on a connection`,
    columns: ['', ...Array.from({ length: requests }, (_, i) => `${i + 1}`)],
    rows: rows.map(({ name, medians }) => [name, ...medians.map((value) => value.toFixed(1))]),
    plot: { unit: 'ms, requests 2 to 12', bars: rows.map(({ name, later }) => ({ name, ...later })) },
    goals: [
      {
        text: 'slowest of requests 2 to 12 with ours, in milliseconds',
        measured: Math.max(slowest('ours'), slowest('ours for undici')),
        atMost: 5,
      },
      { text: 'the same with no-delay off', measured: slowest('no-delay off'), atLeast: 35 },
    ],
    data: Object.fromEntries(samples),
  };
}

/** Milliseconds of each request on a new connection to `server`. */
async function latencies(agent: string, server: Shortener): Promise<number[]> {
  await using worker = await startWorker('http-client.ts', agent);
  // A new process compiles its code during the first connection, which goes to another server.
  await using warmUp = await startShortener();
  await worker.call({ requests, url: `${warmUp.url}/chain/0` });
  return await worker.call({ requests, url: `${server.url}/chain/0` });
}

async function throughput(): Promise<Result> {
  await using server = await startWorker('shortener.ts');
  await using running = new AsyncDisposableStack();
  const candidates: Candidate[] = [];
  for (const name of agents) {
    const { pid, call } = running.use(await startWorker('http-client.ts', name));
    candidates.push({
      name,
      processes: { client: pid },
      connectionsOpened: () => server.call('connections'),
      load: (seconds) => call({ seconds, url: `${server.url}/chain/0` }),
    });
  }
  return await compare({
    title: 'GET over 32 keep-alive connections',
    candidates,
    baseline: 'node',
    goals: [
      { text: 'CPU per request against Node’s own agent', value: cpuRatio('ours', 'node'), atMost: 1.05 },
    ],
  });
}
