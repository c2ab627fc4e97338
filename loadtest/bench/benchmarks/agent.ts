import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { type Child, startChild } from '../child.ts';
import { type Contender, compare, type Load, spread } from '../measure.ts';
import type { Result } from '../report.ts';

export const title = 'Agent: keep-alive and TCP no-delay';

const names = ['ours', 'node', 'agentkeepalive', 'undici'];
/** Requests of one connection, and how often each is measured, on a new connection each time. */
const requests = 12;
const repetitions = 5;

export async function run(): Promise<Result[]> {
  const plain = await startShortener();
  const secure = await startShortener({ tls: await testCertificate() });
  try {
    return [await twoWrites('http', plain), await twoWrites('https', secure), await throughput()];
  } finally {
    await Promise.all([plain.close(), secure.close()]);
  }
}

/** Latency of each of the first requests of a connection, sent in two writes. */
async function twoWrites(scheme: string, server: Shortener): Promise<Result> {
  const rows: { name: string; milliseconds: number[]; later: number[] }[] = [];
  const samples = new Map<string, number[][]>();
  for (let i = 0; i < repetitions; i += 1) {
    for (const name of ['no-delay off', ...names]) {
      const child = await startChild('agents.ts', name);
      // A new process has to compile its code: one connection's worth first, to another server.
      const elsewhere = await startShortener();
      await child.ask({ first: requests, url: `${elsewhere.url}/chain/0` });
      const first = await child.ask<number[]>({ first: requests, url: `${server.url}/chain/0` });
      samples.set(name, [...(samples.get(name) ?? []), first]);
      await child.stop();
      await elsewhere.close();
    }
  }
  for (const [name, runs] of samples) {
    const milliseconds = Array.from(
      { length: requests },
      (_, i) => spread(runs.map((run) => run[i] ?? 0)).median,
    );
    rows.push({ name, milliseconds, later: runs.flatMap((run) => run.slice(1)) });
  }
  const slowest = (name: string) =>
    Math.max(...(rows.find((row) => row.name === name)?.milliseconds.slice(1) ?? []));
  return {
    title: `Two writes a request over ${scheme}: median ms of request 1 to ${requests} of a connection`,
    columns: ['', ...Array.from({ length: requests }, (_, i) => `${i + 1}`)],
    rows: rows.map(({ name, milliseconds }) => [name, ...milliseconds.map((value) => value.toFixed(1))]),
    plot: {
      unit: 'ms, requests 2 to 12',
      bars: rows.map(({ name, later }) => ({ name, ...spread(later) })),
    },
    goals: [
      {
        text: 'slowest of the requests 2 to 12 with ours, in milliseconds',
        measured: slowest('ours'),
        atMost: 5,
      },
      { text: 'the same with no-delay off', measured: slowest('no-delay off'), atLeast: 35 },
    ],
    data: Object.fromEntries(samples),
  };
}

async function throughput(): Promise<Result> {
  const server = await startChild('shortener.ts');
  const children = await Promise.all(names.map((name) => startChild('agents.ts', name)));
  const contender = (name: string, child: Child): Contender => ({
    name,
    processes: { client: child.pid },
    connections: () => server.ask('connections'),
    load: (seconds) => child.ask<Load>({ load: seconds, url: `${server.url}/chain/0` }),
  });
  try {
    return await compare({
      title: 'GET over 32 kept connections',
      contenders: names.map((name, i) => contender(name, children[i] as Child)),
      reference: 'node',
      goals: [
        {
          text: 'CPU a request against Node’s own agent',
          value: (of) => (of('ours').cpu.client?.median ?? 0) / (of('node').cpu.client?.median ?? 0),
          atMost: 1.05,
        },
      ],
    });
  } finally {
    await Promise.all([...children, server].map((child) => child.stop()));
  }
}
