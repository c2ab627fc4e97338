import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type K6, k6Files, startScript } from '../k6.ts';
import { cpuTime, ownCpuTime } from '../machine/process-usage.ts';
import type { K6Summary } from '../runs/verdict.ts';
import type { OwnTarget } from '../target.ts';
import { type Capacity, type Kind, kinds, type Mix } from './model.ts';
import { type Snapshot, snapshot } from './observe.ts';

/** A few seconds at one rate. */
export interface Step {
  mix: Mix;
  /** Requests per second. */
  rate: number;
  /** Whether the objective was met. */
  met: boolean;
  /** Milliseconds. */
  p99: number;
  failed: number;
  /** Iterations for which k6 had no free connection. */
  dropped: number;
  /** Cores that each process used, k6 among them. */
  cores: Record<string, number>;
  /** Cores that programs used which have nothing to do with it. */
  others: number;
  /** Milliseconds of delay of the event loop (p99). */
  lag: Record<string, number>;
  memory: Record<string, number>;
  sockets: Record<string, number>;
  /** Commands of Redis, and flushes of the store's disk, per second. */
  commands: Record<string, number>;
  flushes: number;
  /** Average milliseconds by kind. */
  latency: Partial<Record<Kind, number>>;
}

/** What an answer may take, in milliseconds, and the share that may fail, unless the environment says otherwise. */
export const objective: Capacity['objective'] = {
  p99: Number(process.env.LOAD_P99) || 20,
  failed: Number(process.env.LOAD_FAILED) || 0.001,
};

/** Cores that other programs may use beside a step; if it is more, they may be the reason why it fails. */
export const mayBeOthers = 0.1;

/** Seconds of which the first two are a warm-up. */
const duration = 8;
/** Seconds that are observed. */
const observed = 5;

/** Loads the stack for a few seconds, and observes all of its processes over the same seconds. */
export async function measureStep(k6: K6, target: OwnTarget, mix: Mix, rate: number): Promise<Step> {
  await using out = await mkdtempDisposable(join(tmpdir(), 'longhand-capacity-'));
  const variables = { ...target.variables, ...settings(mix, rate) };
  const options = { script: 'mix', out: out.path, variables, quiet: true, summaryOnly: true };
  const { pid, ended } = await startScript(k6, options, 'steady');
  const beside = () => ({ k6: cpuTime(pid), shortener: ownCpuTime(process.pid) });
  const before = await snapshot(target, beside);
  await sleep(observed * 1_000);
  const after = await snapshot(target, beside);
  const { code } = await ended;
  const summary: K6Summary = JSON.parse(await readFile(join(out.path, k6Files.summary), 'utf8'));
  return { mix, rate, met: code === 0, ...fromSummary(summary), ...between(before, after) };
}

const settings = (mix: Mix, rate: number): Record<string, string> => ({
  LOAD_PROFILE: 'full',
  LOAD_RATE: `${rate}`,
  LOAD_DURATION: `${duration}`,
  LOAD_P99: `${objective.p99}`,
  LOAD_FAILED: `${objective.failed}`,
  ...Object.fromEntries(kinds.map((kind) => [`LOAD_${kind.toUpperCase()}`, `${mix[kind]}`])),
});

function fromSummary({ metrics }: K6Summary) {
  const steady = 'phase:steady,target:stack';
  const latency = kinds.map((kind) => [kind, metrics[`http_req_duration{${steady},kind:${kind}}`]?.avg]);
  return {
    p99: metrics[`http_req_duration{${steady}}`]?.['p(99)'] ?? Number.NaN,
    failed: metrics[`http_req_failed{${steady}}`]?.value ?? Number.NaN,
    dropped: metrics.dropped_iterations?.count ?? 0,
    latency: Object.fromEntries(latency.filter(([, average]) => average)) as Step['latency'],
  };
}

function between(before: Snapshot, after: Snapshot) {
  const seconds = (after.at - before.at) / 1_000;
  const perSecond = (a: Record<string, number>, b: Record<string, number>, unit = 1) =>
    Object.fromEntries(
      Object.entries(b).map(([name, value]) => [name, (value - (a[name] ?? 0)) / seconds / unit]),
    );
  const cores = perSecond(before.cpu, after.cpu, 1e6);
  const all = (after.machine - before.machine) / seconds / 1e6;
  return {
    cores,
    others: Math.max(
      0,
      Object.values(cores).reduce((left, used) => left - used, all),
    ),
    commands: perSecond(before.commands, after.commands),
    flushes: (after.flushes - before.flushes) / seconds,
    lag: after.lag,
    memory: after.memory,
    sockets: after.sockets,
  };
}

/** A step in one line. */
export function describe({ rate, p99, failed, dropped, cores, others, met }: Step): string {
  const busiest = Object.entries(cores).sort(([, a], [, b]) => b - a);
  const used = busiest.slice(0, 4).map(([name, cores]) => `${name} ${cores.toFixed(2)}`);
  const more = others < mayBeOthers ? '' : `, other programs ${others.toFixed(2)}`;
  return (
    `${rate}/s: p99 ${p99.toFixed(1)} ms, ${(failed * 100).toFixed(2)} % failed, ${dropped} dropped; ` +
    `cores: ${used.join(', ')}${more}${met ? '' : '  NOT MET'}`
  );
}
