import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { otherVariables } from '@longhand/shared/unread-variables.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freeStackPorts } from '../testing/stack-ports.ts';

const root = join(import.meta.dirname, '..', '..');
const project = `longhand-test-${randomBytes(4).toString('hex')}`;
let env: NodeJS.ProcessEnv;

/** Runs a command in the checkout with a compose project of its own. */
async function run(command: string, args: string[], variables: Record<string, string> = {}, cwd = root) {
  const options = { cwd, env: { ...env, ...variables } };
  return promisify(execFile)(command, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}

describe.runIf(await engineAnswers())('make up with Docker', { timeout: 120_000 }, () => {
  const up = (variables?: Record<string, string>) => run('deploy/compose/up.sh', [], variables);

  beforeAll(async () => {
    env = { ...process.env, COMPOSE_PROJECT_NAME: project, ...(await freeStackPorts()).variables };
  });
  afterAll(async () => {
    await run('docker', ['compose', 'down', '--volumes', '--rmi', 'local']);
  });

  test('names a variable that does not exist and exits with 78, knows those that do, and reads .env', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-up-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['docker-compose.yml', 'docker-compose.tls.yml', 'shared'])
      symlinkSync(join(root, name), join(folder, name));
    const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
    const documented = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = '']) => name);
    const known = [...documented, ...otherVariables].map((name) => `${name}=1\n`).join('');
    writeFileSync(join(folder, '.env'), `${known}export EXPANDER_MAX_REDIRECTS=9\n# TASKS_COLOUR=red\n`);
    const variables = { EXPANDER_URL: 'x', LONGHAND_PROT: '80' };
    const { code, output } = await run(join(root, 'deploy/compose/up.sh'), [], variables, folder);
    expect([code, output]).toEqual([78, 'There is no such variable: EXPANDER_MAX_REDIRECTS LONGHAND_PROT\n']);
  });

  test('with a damaged append-only file fails, and ends with the commands that copy and repair it', async () => {
    const damage = `
      mkdir appendonlydir && cd appendonlydir
      echo 'file appendonly.aof.1.incr.aof seq 1 type i' >appendonly.aof.manifest
      printf '*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\nnonsense' >appendonly.aof.1.incr.aof`;
    const compose = ['compose', 'run', '--rm', '--no-deps', '-T', 'tasks-store'];
    await run('docker', [...compose, 'sh', '-c', damage]);
    // Compose gives up on it after a second instead of twenty.
    const folder = mkdtempSync(join(tmpdir(), 'longhand-up-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const healthcheck = { start_period: '1s', interval: '1s', retries: 1 };
    const services = { 'tasks-store': { healthcheck } };
    writeFileSync(join(folder, 'soon.json'), JSON.stringify({ services }));
    const { code, output } = await up({ COMPOSE_FILE: `docker-compose.yml:${folder}/soon.json` });
    expect(code).toBe(1);
    const [said, copy = '', repair = ''] = output.trim().split('\n').slice(-3);
    expect(said).toContain('The saved tasks cannot be read');

    const shell = { cwd: root, env, encoding: 'utf8', shell: true } as const;
    expect(spawnSync(copy.replace(/>.*/, '| tar -t'), shell).stdout).toContain('appendonly.aof.1.incr.aof');
    const repaired = spawnSync(repair.replace('run', 'run -T'), { ...shell, input: 'y\n' });
    expect(repaired.stdout).toContain('Successfully truncated AOF');
    const started = await run('docker', ['compose', 'up', '--wait', 'tasks-store']);
    expect(started.code).toBe(0);
  });

  test('prints the addresses that lead to it, by LONGHAND_BIND', async () => {
    const variables = { LONGHAND_BIND: '127.0.0.2', LONGHAND_TASKS_NAME: 'nas.lan' };
    // A group of its own, because Ctrl-C stops compose too.
    const child = spawn(join(root, 'deploy/compose/up.sh'), {
      cwd: root,
      env: { ...env, ...variables },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await expect.poll(() => output, { timeout: 120_000 }).toContain('Ctrl-C stops everything');
    const { LONGHAND_PORT, LONGHAND_EXPANDER_PORT, LONGHAND_TASKS_PORT } = env;
    expect(output.match(/http\S+/g)).toEqual([
      `http://127.0.0.2:${LONGHAND_EXPANDER_PORT}/`,
      `http://nas.lan:${LONGHAND_PORT}/`,
      `http://127.0.0.2:${LONGHAND_TASKS_PORT}/`,
    ]);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await once(child, 'exit');
  });
});
