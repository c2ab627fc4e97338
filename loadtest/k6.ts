import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import manifest from './package.json' with { type: 'json' };

const scripts = join(import.meta.dirname, 'scripts');
const localBin = join(import.meta.dirname, '..', '.local', 'bin');
/** The oldest version that works, and the one to install. */
const version = manifest.config.k6.replace('v', '');
const image = `grafana/k6:${version}`;

export interface K6 {
  version: string;
  /** The command line of a k6 with this environment that may write to the folder `out`. */
  command(env: Record<string, string>, out: string): string[];
}

/**
 * Finds k6 on the PATH, in `.local/`, or as a Docker image. Otherwise Go installs it into `.local/`, which takes about two
 * minutes.
 *
 * @throws Error that says how to get k6, or that the one on the PATH is too old.
 */
export async function findK6(): Promise<K6> {
  const installed = await installedK6();
  if (installed) return installed;
  if ((await succeeds('docker', 'image', 'inspect', image)) || (await succeeds('docker', 'pull', image))) {
    return { version, command: inDocker };
  }
  if (await succeeds('go', 'version')) {
    console.log(`Installing k6 ${version} with Go into .local/bin: about two minutes, once.`);
    await mkdir(localBin, { recursive: true });
    await run('go', ['install', `go.k6.io/k6@v${version}`], { env: { ...process.env, GOBIN: localBin } });
    return { version, command: () => [join(localBin, 'k6')] };
  }
  const pulled = (await succeeds('docker', 'version')) ? `, and Docker cannot pull ${image}` : '';
  throw new Error(
    `k6 is not installed${pulled}. Install it (https://grafana.com/docs/k6/latest/set-up/install-k6/), or install ` +
      'Docker or Go: then this command gets k6 by itself.',
  );
}

/** The k6 on the PATH or in `.local/`, if there is one. @throws Error if it is too old, or with its reason not to start. */
export async function installedK6(): Promise<K6 | undefined> {
  for (const command of ['k6', join(localBin, 'k6')]) {
    const output = await run(command, ['version']).catch((error) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Error(`${command} does not start: ${error.stderr || error.message}`);
    });
    if (!output) continue;
    const found = /\bv(\d+\.\d+\.\d+)/.exec(output.stdout)?.[1];
    if (!found || isOlder(found, version)) {
      throw new Error(
        `${command} is ${found ?? output.stdout.trim()}, older than ${version}, which the load scripts need. Update ` +
          'it, or take it off the PATH: then "make load" gets one by itself.',
      );
    }
    return { version: found, command: () => [command] };
  }
  return undefined;
}

const isOlder = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true }) < 0;

const inDocker: K6['command'] = (env, out) => [
  ...['docker', 'run', '--rm', '--network', 'host', '--user', `${process.getuid?.()}:${process.getgid?.()}`],
  ...(process.stdout.isTTY ? ['--tty'] : []),
  ...[process.cwd(), import.meta.dirname, out].flatMap((folder) => ['--volume', `${folder}:${folder}`]),
  ...['--workdir', process.cwd()],
  ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  image,
];

export interface ScriptRun {
  /** Runs `scripts/<script>.ts`. */
  script: string;
  /** The folder for k6's summary and its HTML report. */
  out: string;
  /** The environment of the script. */
  variables: Record<string, string>;
  /** More options for k6. */
  args?: readonly string[];
  /** Returns the output instead of writing it to this terminal with a progress bar. */
  quiet?: boolean;
}

/** The reports of all runs, a folder each: `<time>-<commit>-<script>`. */
export const runsFolder = join(import.meta.dirname, 'out');

/** The files of a run: what k6 writes, and what `make load` adds. */
export const k6Files = { summary: 'summary.json', html: 'report.html', run: 'run.json' };

/**
 * Runs a script.
 *
 * @returns k6's exit code: 0 if every threshold passed, 99 if one failed, another if k6 itself failed.
 */
export async function runScript(
  k6: K6,
  { script, out, variables, args = [], quiet = false }: ScriptRun,
): Promise<{ code: number | null; output: string }> {
  await mkdir(out, { recursive: true });
  const env = {
    K6_WEB_DASHBOARD: 'true',
    // No live page, and one point per second: with k6's default of ten seconds a short run has no report.
    K6_WEB_DASHBOARD_PORT: '-1',
    K6_WEB_DASHBOARD_PERIOD: '1s',
    // A container does not inherit them.
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name, value]) => /^(K6|LOAD)_/.test(name) && value),
    ),
    ...variables,
    K6_WEB_DASHBOARD_EXPORT: join(out, k6Files.html),
  };
  const options = [
    // No usage report to Grafana, no REST API.
    ...['--no-usage-report', '--address='],
    // k6 2 has another format by default.
    ...['--new-machine-readable-summary=false', '--summary-export', join(out, k6Files.summary)],
    ...(quiet || !process.stdout.isTTY ? ['--quiet'] : []),
  ];
  const [command = '', ...prefix] = k6.command(env, out);
  const child = spawn(command, [...prefix, 'run', ...options, ...args, join(scripts, `${script}.ts`)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  const closed = once(child, 'close');
  const read = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const output = (await Promise.all(read)).join('\n');
  const [code] = await closed;
  return { code, output };
}

const run = promisify(execFile);

const succeeds = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(Boolean, () => false);
