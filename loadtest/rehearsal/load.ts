import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type K6, k6Files, startScript } from '../k6.ts';
import { readSamples, type Sample } from '../samples.ts';
import type { RehearsedStack } from './stack.ts';
import { pause } from './until.ts';

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

/** Starts k6 with `scripts/rehearsal.ts`. Resolves once it has sent requests for `seconds`. */
export async function startLoad(k6: K6, stack: RehearsedStack, seconds: number): Promise<Load> {
  const run = `rehearsal-${randomBytes(6).toString('base64url')}`;
  const out = await mkdtemp(join(tmpdir(), 'longhand-rehearsal-'));
  const variables = {
    LOAD_PROFILE: process.env.LOAD_PROFILE ?? 'full',
    REHEARSAL_RUN: run,
    PROXY_URL: stack.urls.proxy,
    EXPANDER_URL: stack.urls.expander,
    TASKS_URL: stack.urls.tasks,
    SHORTENER_URL: stack.shortener,
    K6_WEB_DASHBOARD: 'false',
  };
  const options = { script: 'rehearsal', out, variables, args: ['--no-teardown'], quiet: true };
  const { pid, ended } = await startScript(k6, options, 'under way');
  await pause(seconds);
  return {
    run,
    async end() {
      const endedAt = Date.now();
      process.kill(pid, 'SIGINT');
      await ended;
      const samples = await readSamples(join(out, k6Files.samples), /^answers$/);
      await rm(out, { recursive: true });
      const requests = samples.map(toRequest).sort((a, b) => a.at - b.at);
      // What was cut by the end itself is no failure.
      return requests.filter(({ at, right }) => right || at <= endedAt);
    },
  };
}

const toRequest = ({ at, value, tags: { kind, status, right, title } }: Sample): Request => ({
  kind: kind as Kind,
  at,
  milliseconds: value,
  status: Number(status),
  right: right === 'true',
  ...(title && { title }),
});
