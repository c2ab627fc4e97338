import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { K6 } from '../k6.ts';
import type { RehearsedStack } from './stack.ts';

export type Kind = 'hot' | 'miss' | 'read' | 'write';

/** One request of the load. */
export interface Request {
  kind: Kind;
  /** When it was answered, or failed: milliseconds since 1970. */
  at: number;
  milliseconds: number;
  /** What it was answered with, or k6's code of the error (1xxx). */
  status: number;
  /** Whether the answer was the right one. */
  right: boolean;
  /** What a write was to add. */
  title?: string;
}

export interface Load {
  /** What begins the title of everything that this load adds. */
  readonly run: string;
  /** Ends the load, and resolves with all its requests in the order of their ends. */
  end(): Promise<Request[]>;
}

const script = join(import.meta.dirname, '..', 'scripts', 'rehearsal.ts');

/** Whatever ends this program, no load keeps running. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts k6 with `scripts/rehearsal.ts`. Resolves once it has sent requests for `seconds`. */
export async function startLoad(k6: K6, stack: RehearsedStack, seconds: number): Promise<Load> {
  const run = `rehearsal-${randomBytes(6).toString('base64url')}`;
  const out = await mkdtemp(join(tmpdir(), 'longhand-rehearsal-'));
  const samples = join(out, 'samples.json');
  const env: Record<string, string> = {
    LOAD_PROFILE: process.env.LOAD_PROFILE ?? 'full',
    REHEARSAL_RUN: run,
    PROXY_URL: stack.urls.proxy,
    EXPANDER_URL: stack.urls.expander,
    TASKS_URL: stack.urls.tasks,
    SHORTENER_URL: stack.shortener,
  };
  const [command = '', ...prefix] = k6.command(env, out);
  const options = ['--quiet', '--no-usage-report', '--address=', '--no-teardown', '--out', `json=${samples}`];
  const child = spawn(command, [...prefix, 'run', ...options, script], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const closed = once(child, 'close');
  running.add(child);
  const read = () => readFile(samples, 'utf8').then(parse, () => []);
  for (let first = 0; first === 0 || Date.now() - first < seconds * 1_000; ) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 100)), closed]);
    if (child.exitCode !== null) throw new Error(`k6 ended with ${child.exitCode}:\n${output}`);
    first ||= (await read())[0]?.at ?? 0;
  }
  return {
    run,
    async end() {
      const ended = Date.now();
      child.kill('SIGINT');
      await closed;
      const requests = await read();
      await rm(out, { recursive: true });
      // What was cut by the end itself is no failure.
      return requests.filter(({ at, right }) => right || at <= ended);
    },
  };
}

/** The samples of `answers` in the lines of k6's JSON. */
function parse(text: string): Request[] {
  const requests: Request[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('{"metric":"answers","type":"Point"')) continue;
    const { data } = parseLine(line) ?? {};
    if (!data) continue;
    const { kind, status, right, title } = data.tags;
    requests.push({
      kind: kind as Kind,
      at: Date.parse(data.time),
      milliseconds: data.value,
      status: Number(status),
      right: right === 'true',
      ...(title && { title }),
    });
  }
  return requests.sort((a, b) => a.at - b.at);
}

interface Point {
  data: { time: string; value: number; tags: Record<string, string> };
}

/** The last line may be half written while k6 runs. */
function parseLine(line: string): Point | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
