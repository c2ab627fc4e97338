import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
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

describe.runIf(await engineAnswers())('make up with Docker', { timeout: 300_000 }, () => {
  const up = (variables?: Record<string, string>) => run('deploy/compose/up.sh', [], variables);

  beforeAll(async () => {
    env = { ...process.env, COMPOSE_PROJECT_NAME: project, ...(await freeStackPorts()).variables };
  });
  afterAll(async () => {
    await run('docker', ['compose', 'down', '--volumes', '--rmi', 'local']);
  });

  /** Variables that give a start these lines as its `.env`. */
  function dotenv(...lines: string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-up-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, '.env'), lines.join('\n'));
    const services = { settings: { env_file: [join(folder, '.env')] } };
    writeFileSync(join(folder, 'env.json'), JSON.stringify({ services }));
    return { COMPOSE_ENV_FILES: join(folder, '.env'), COMPOSE_FILE: `docker-compose.yml:${folder}/env.json` };
  }

  test('names every unknown variable and every bad value, and starts nothing', async () => {
    const file = dotenv(
      'export EXPANDER_MAX_REDIRECTS=9',
      '# TASKS_COLOUR=red',
      'LONGHAND_TASKS_NAME=http://nas.lan',
    );
    const { code, output } = await up({ ...file, LONGHAND_PROT: '80', EXPANDER_URL: 'x' });
    expect(code).toBe(78);
    const faults = output.slice(output.lastIndexOf('Invalid')).trim().split('\n  ').toSorted();
    expect(faults).toEqual([
      'EXPANDER_MAX_REDIRECTS: there is no such variable',
      'Invalid environment:',
      'LONGHAND_PROT: there is no such variable',
      'LONGHAND_TASKS_NAME=http://nas.lan: is not a host name such as nas.lan',
    ]);
    const plain = await run('docker', ['compose', 'up', '--wait'], file);
    expect([plain.code, plain.output]).toEqual([1, expect.stringContaining('settings')]);
    const said = await run('docker', ['compose', 'logs', 'settings'], file);
    expect(said.output).toContain('EXPANDER_MAX_REDIRECTS: there is no such variable');
    const running = await run('docker', ['compose', 'ps', '--services', '--status', 'running'], file);
    expect(running.output).not.toMatch(/^(tasks|expander|proxy)$/m);
    await run('docker', ['compose', 'down', '--volumes']);
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

  test('prints the addresses that lead to it, by LONGHAND_BIND, and reads its secret files again', async () => {
    // Names that mean something to programs do nothing.
    const others = ['HOST=192.0.2.1', 'PORT=none', 'NODE_OPTIONS=--none', 'PATH=/nowhere', 'REDIS_URL=none'];
    const tokens = textFile('one first');
    const keys = textFile(`former ${'a'.repeat(16)} 10r/s`);
    const variables = {
      LONGHAND_BIND: '127.0.0.2',
      LONGHAND_TASKS_NAME: 'nas.lan',
      TASKS_PASSWORD_FILE: textFile('a password'),
      TASKS_TOKENS_FILE: tokens,
      EXPANDER_TOKENS_FILE: keys,
      ...dotenv(...others),
    };
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

    // Files that change are read again.
    writeFileSync(tokens, 'one second');
    writeFileSync(keys, `latter ${'b'.repeat(16)} 10r/s`);
    const status = async (port: string | undefined, path: string, secret: string) => {
      const headers = { Authorization: `Bearer ${secret}`, Accept: 'application/json' };
      return (await fetch(`http://127.0.0.2:${port}${path}`, { headers })).status;
    };
    const asOf = async (token: string, key: string) => [
      await status(LONGHAND_TASKS_PORT, '/tasks', token),
      await status(LONGHAND_EXPANDER_PORT, '/api?u=http://127.0.0.1/', key.repeat(16)),
    ];
    await expect.poll(() => asOf('second', 'b'), { timeout: 30_000 }).toEqual([200, 403]);
    expect(await asOf('first', 'a')).toEqual([401, 401]);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await once(child, 'exit');
  });
});
