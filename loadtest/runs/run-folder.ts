import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CpuUser } from '../machine/cpu-users.ts';
import type { Settings } from '../machine/environment.ts';
import type { Growth } from '../machine/growth.ts';
import type { Verdict } from './verdict.ts';

/** The reports of all runs, a folder each. */
export const runsFolder = join(import.meta.dirname, '..', 'out');

/** What is known of a run, beside what k6 wrote. */
export interface Run {
  /** Its folder, `<time>-<commit>-<script>`. */
  id: string;
  script: string;
  /** ISO 8601. */
  started: string;
  seconds: number;
  /** Short, with `+` if files had changed since. */
  commit: string;
  /** The URL of the stack. */
  target: string;
  machine: Record<string, string>;
  settings: Settings;
  cpu: CpuUser[];
  /** For a soak. */
  growth?: Growth[];
  verdict: Verdict;
  /** For a breakpoint: requests a second at its end. */
  rateReached?: number;
}

/** The commit that is checked out, with `+` if files have changed since; `none` outside of a repository. */
export function currentCommit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    return (
      git('rev-parse', '--short', 'HEAD').trim() + (git('status', '--porcelain', '-uno') === '' ? '' : '+')
    );
  } catch {
    return 'none';
  }
}

/** All runs in `folder` that came to their end, the latest first. */
async function listRuns(folder: string): Promise<Run[]> {
  const names = await readdir(folder).catch(() => []);
  const read = async (id: string): Promise<Run> =>
    JSON.parse(await readFile(join(folder, id, 'run.json'), 'utf8'));
  const runs = await Promise.all(names.map((name) => read(name).catch(() => undefined)));
  return runs.filter((run) => run !== undefined).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/**
 * The two runs to compare: those that are named, by their folder or its path, or the latest two of the latest script.
 *
 * @throws Error that says which run is missing.
 */
export async function chooseRuns(
  [a, b]: readonly (string | undefined)[],
  folder = runsFolder,
): Promise<[Run, Run]> {
  const runs = await listRuns(folder);
  const named = (name: string) => {
    const found = runs.find(({ id }) => name.replace(/\/$/, '').split('/').at(-1) === id);
    if (found) return found;
    throw new Error(
      `There is no run ${name} in ${folder}; there are ${runs.map(({ id }) => id).join(', ') || 'none'}.`,
    );
  };
  const after = b ? named(b) : runs[0];
  const before = a ? named(a) : runs.find((run) => run !== after && run.script === after?.script);
  if (after && before) return [before, after];
  throw new Error(`There are no two runs of the same script in ${folder} to compare.`);
}
