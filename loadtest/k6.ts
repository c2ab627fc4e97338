import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from './package.json' with { type: 'json' };

const scripts = join(import.meta.dirname, 'scripts');
const localBin = join(import.meta.dirname, '..', '.local', 'bin');
/** The one that is installed, and the oldest that will do. */
const version = manifest.config.k6.replace('v', '');
const image = `grafana/k6:${version}`;

export interface K6 {
  version: string;
  /** The command line that runs k6 with the given environment, and may write to the folder `out`. */
  command(env: Record<string, string>, out: string): string[];
}

/**
 * Finds k6: on the PATH, in `.local/`, or as a Docker image; otherwise installs it with Go into `.local/`, once, which
 * takes about two minutes.
 *
 * @throws Error that says how to get it, or that the one on the PATH is too old.
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
    `k6 is not installed${pulled}: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/), or install ` +
      'Docker or Go, with which this command gets it by itself.',
  );
}

/** The k6 on the PATH or in `.local/`, if there is one. @throws Error if it is too old. */
export async function installedK6(): Promise<K6 | undefined> {
  for (const command of ['k6', join(localBin, 'k6')]) {
    const output = await run(command, ['version']).catch(() => undefined);
    if (!output) continue;
    const found = /\bv(\d+\.\d+\.\d+)/.exec(output.stdout)?.[1];
    if (!found || isOlder(found, version)) {
      throw new Error(
        `${command} is ${found ?? output.stdout.trim()}, older than ${version}, which the load scripts need: update ` +
          'it, or take it off the PATH, and "make load" gets one by itself.',
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
  /** Whether its output is kept for the caller; otherwise k6 writes to this terminal, with its progress bar. */
  quiet?: boolean;
}

/** The files that k6 writes to the folder of a run. */
export const k6Files = { summary: 'summary.json', html: 'report.html' };

/** Whatever ends this program, no k6 keeps running. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Runs a script to its end.
 *
 * @returns k6's exit code: 0 when every threshold passed, 99 when one failed, another when k6 itself failed.
 */
export async function runScript(
  k6: K6,
  { script, out, variables, args = [], quiet = false }: ScriptRun,
): Promise<{ code: number | null; output: string }> {
  await mkdir(out, { recursive: true });
  const env = {
    K6_WEB_DASHBOARD: 'true',
    // No live page by default, and one point per second: with k6's default of ten a short run has no report.
    K6_WEB_DASHBOARD_PORT: '-1',
    K6_WEB_DASHBOARD_PERIOD: '1s',
    // In a container too.
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
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  running.delete(child);
  return { code, output };
}

const run = promisify(execFile);

const succeeds = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(Boolean, () => false);
