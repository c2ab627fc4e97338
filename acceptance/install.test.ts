import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs, { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeStackPorts } from '@longhand/deploy/testing/temporary-stack.ts';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { docker, hasEngine } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { testFolder, textFile } from '@longhand/shared/testing/text-file.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { ownNetworks } from './testing/composed.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/install.md'), 'utf8');
/** Returns the commands in install.md that match `pattern`, without comments. */
const code = (pattern: RegExp) =>
  [...page.matchAll(/^ {4}(.+?)(?: {3,}#.*)?$/gm)]
    .map(([, line = '']) => line)
    .filter((line) => pattern.test(line));

const [expanderName, name] = ['EXPANDER', 'TASKS'].map(
  (service) => code(new RegExp(`^LONGHAND_${service}_NAME=\\w+\\.example`))[0]?.replace(/.*=/, '') ?? '',
) as [string, string];

test.each([
  ['', '', 'http://nas.lan:8080/'],
  ['', '443', 'https://nas.lan/'],
  ['10.80.80.250/32', '', 'https://nas.lan/'],
])(
  'prints the URL for LONGHAND_TASKS_NAME with LONGHAND_FRONT=%s, LONGHAND_HTTPS_PORT=%s: %s',
  (front, port, url) => {
    const names = { LONGHAND_TASKS_NAME: 'nas.lan', LONGHAND_FRONT: front, LONGHAND_HTTPS_PORT: port };
    const ports = { LONGHAND_PORT: '8080', LONGHAND_EXPANDER_PORT: '8081', LONGHAND_TASKS_PORT: '8082' };
    const env = { PATH: process.env.PATH, ...names, ...ports };
    const printed = execFileSync(join(root, 'deploy/addresses.sh'), ['127.0.0.2'], { env, encoding: 'utf8' });
    expect(printed.match(/http\S+/g)).toEqual(['http://127.0.0.2:8081/', url, 'http://127.0.0.2:8082/']);
  },
);

// All tests share one stack, because startup is slow. year.test.ts runs the commands in docs/install.md.
describeUnless(!(await hasEngine()) && 'needs a Docker engine')('In containers', { timeout: 300_000 }, () => {
  const project = `longhand-test-${randomBytes(4).toString('hex')}`;
  const folder = testFolder();
  let env: NodeJS.ProcessEnv;
  let networks: ReturnType<typeof ownNetworks>;
  let front: { address: string; settings: string };

  beforeAll(async () => {
    const { ports, variables } = await freeStackPorts();
    env = {
      ...process.env,
      ...variables,
      COMPOSE_PROJECT_NAME: project,
      COMPOSE_FILE: `${join(root, 'docker-compose.yml')}:${join(folder, 'override.json')}`,
      COMPOSE_ENV_FILES: join(folder, '.env'),
    };
    // install.md's networks, with subnets that only this test uses.
    const own = ports.LONGHAND_TASKS_PORT;
    const here = (text: string) => text.replaceAll('10.80.80.', `10.${own >> 8}.${own & 255}.`);
    const [, override = ''] = /^( {4}services:\n(?: {4}.*\n)+)/m.exec(page) ?? [];
    const written = parse(here(override.replace(/^ {4}/gm, '')));
    networks = { ...ownNetworks(ports.LONGHAND_PORT), ...written.networks };
    front = {
      address: written.services.caddy.networks.front.ipv4_address,
      settings: here(code(/^LONGHAND_(FRONT|.*_NAME|API_RATE)=/).join('\n')),
    };
    configure('');
    const images = ['settings', 'proxy', 'tls', 'expander', 'expander-cache', 'tasks', 'tasks-store'].map(
      (service) => `  ${service}: { build: !reset null, image: ${project}-${service} }\n`,
    );
    writeFileSync(join(folder, 'built.yml'), `services:\n${images.join('')}`);
  });
  afterAll(() => run('docker compose down --volumes --rmi all'));

  /** Writes .env and a compose override file. */
  function configure(dotenv: string, services = {}) {
    writeFileSync(join(folder, '.env'), dotenv);
    const settings = { env_file: [join(folder, '.env')] };
    writeFileSync(
      join(folder, 'override.json'),
      JSON.stringify({ networks, services: { settings, ...services } }),
    );
  }

  async function certify() {
    const { key, cert } = await testCertificate(name);
    for (const [file, text] of Object.entries({ 'privkey.pem': key, 'fullchain.pem': cert }))
      writeFileSync(join(folder, 'tls', file), text, { mode: 0o644 });
  }

  /** Runs a command in `folder`. */
  const run = (command: string, variables: Record<string, string> = {}, input = '') => {
    const running = promisify(execFile)('bash', ['-ec', command], {
      cwd: folder,
      env: { ...env, ...variables },
    });
    // A command may exit without reading its input.
    running.child.stdin?.on('error', () => {}).end(input);
    return running.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, output: stdout + stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, output: stdout + stderr }),
    );
  };
  /** Runs a command that must succeed, and returns its output. */
  const outputOf = async (command: string) => {
    const { code, stdout, output } = await run(command);
    if (code !== 0) throw new Error(`${command}: ${output}`);
    return stdout;
  };
  const up = join(root, 'deploy/compose/up.sh');
  const [command = ''] = code(/check\.sh && docker compose up/);

  test.each(['LONGHAND_TASKS_PORT', 'LONGHAND_HTTP_PORT', 'LONGHAND_HTTPS_PORT'])(
    'a bad %s makes compose fail before it creates a container',
    async (name) => {
      const { code, output } = await run('docker compose up --wait', { [name]: '99999' });
      expect([code > 0, output]).toEqual([true, expect.stringMatching(/^Invalid \w+Port: 99999$/m)]);
      expect(await outputOf('docker compose ps --all --quiet')).toBe('');
    },
  );

  test('make up lists every invalid setting', async () => {
    const bad = [
      'export EXPANDER_MAX_REDIRECTS=9',
      '# TASKS_COLOUR=red',
      'LONGHAND_TASKS_NAME=http://nas.lan',
      'TASK_PASSWORD_FILE=./password',
    ];
    configure([...bad, 'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318'].join('\n'));
    const { code, output } = await run(up, { LONGHAND_PROT: '80', EXPANDER_URL: 'x', LONGAND_PORT: '80' });
    expect(code).toBe(78);
    const faults = output.slice(output.lastIndexOf('Invalid')).trim().split('\n  ').toSorted();
    expect(faults).toEqual([
      'EXPANDER_MAX_REDIRECTS: unknown variable',
      'Invalid environment:',
      'LONGHAND_PROT: unknown variable',
      'LONGHAND_TASKS_NAME=http://nas.lan: is not a host name such as nas.lan',
      'OTEL_EXPORTER_OTLP_ENDPOINT: Longhand no longer exports traces; delete this line',
      'TASK_PASSWORD_FILE: unknown variable; did you mean TASKS_PASSWORD_FILE?',
    ]);
    const plain = await run('docker compose up --wait');
    expect([plain.code, plain.output]).toEqual([1, expect.stringContaining('settings')]);
    expect(await outputOf('docker compose logs settings')).toContain(faults[0]);
    const running = await outputOf('docker compose ps --services --status running');
    expect(running).not.toMatch(/^(tasks|expander|proxy)$/m);
    // Do not rebuild the images, which would double the startup time.
    env.COMPOSE_FILE += `:${join(folder, 'built.yml')}`;
  });

  test('the commands in docs/operate.md repair a damaged append-only file', async () => {
    const damage = `
      rm -rf appendonlydir && mkdir appendonlydir && cd appendonlydir
      echo 'file appendonly.aof.1.incr.aof seq 1 type i' >appendonly.aof.manifest
      printf '*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\nnonsense' >appendonly.aof.1.incr.aof`;
    await outputOf('docker compose rm --stop --force tasks-store');
    await outputOf(`docker compose run --rm --no-deps -T tasks-store sh -c "${damage}"`);
    // Compose stops waiting after one second instead of twenty.
    configure('', { 'tasks-store': { healthcheck: { start_period: '1s', interval: '1s', retries: 1 } } });
    const { code, output } = await run(up);
    expect(code).toBe(1);
    expect(output).toMatch(/Bad file format reading the append only file.*redis-check-aof --fix/);
    expect(output).toContain(
      'The stack did not start. The reason is above. If the store failed, see docs/operate.md.',
    );
    const operate = readFileSync(join(root, 'docs/operate.md'), 'utf8');
    const [, block = ''] = /^ {4}(.*tar -C .*\n {4}.*redis-check-aof --fix.*)/m.exec(operate) ?? [];

    // Only a terminal can confirm the repair without `-T`.
    const repaired = await run(
      block.replace(' tasks-store redis-check', ' -T tasks-store redis-check'),
      {},
      'y\n',
    );
    const [copy = ''] = fs.readdirSync(folder).filter((name) => name.endsWith('.tar'));
    expect(fs.statSync(join(folder, copy)).mode & 0o777).toBe(0o600);
    expect(await outputOf(`tar -tf ${copy}`)).toContain('appendonly.aof.1.incr.aof');
    expect(repaired.stdout).toContain('Successfully truncated AOF');
  });

  test('changes to secret files take effect without a restart', async () => {
    const { plain, tls } = await freePorts('plain', 'tls');
    fs.mkdirSync(join(folder, 'tls'));
    await certify();
    const tokens = textFile('one first');
    const keys = textFile(`former ${'a'.repeat(16)} 10r/s`);
    // The proxy runs as user 101.
    const files = ['', 'privkey.pem', 'fullchain.pem'].map((name) => join(folder, 'tls', name));
    if (process.getuid?.() === 0) for (const file of files) fs.chownSync(file, 101, 101);
    fs.chmodSync(join(folder, 'tls'), 0o500);
    Object.assign(env, {
      LONGHAND_BIND: '127.0.0.2',
      LONGHAND_CERTIFICATES: join(folder, 'tls'),
      LONGHAND_HTTP_PORT: plain,
      LONGHAND_HTTPS_PORT: tls,
      TASKS_PASSWORD_FILE: textFile('a password'),
      TASKS_TOKENS_FILE: tokens,
      EXPANDER_KEYS_FILE: keys,
    });
    // Variables of other programs must have no effect.
    configure(
      `HOST=192.0.2.1\nPORT=none\nNODE_OPTIONS=--none\nPATH=/nowhere\nREDIS_URL=none\n${front.settings}`,
    );
    const child = spawn(up, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (text: Buffer) => {
      output += text;
    });
    await expect.poll(() => output, { timeout: 120_000 }).toContain('Ctrl-C stops the stack');
    expect(output.match(/http\S+/g)).toEqual([
      `https://${expanderName}:${tls}/`,
      `http://127.0.0.2:${env.LONGHAND_EXPANDER_PORT}/`,
      `https://${name}:${tls}/`,
      `http://127.0.0.2:${env.LONGHAND_TASKS_PORT}/`,
    ]);
    // Kills the script and compose. The containers keep running.
    process.kill(-(child.pid ?? 0), 'SIGKILL');

    writeFileSync(tokens, 'one second');
    writeFileSync(keys, `latter ${'b'.repeat(16)} 10r/s`);
    const status = async (port: string | undefined, path: string, secret: string) => {
      const headers = { Authorization: `Bearer ${secret}`, Accept: 'application/json' };
      return (await fetch(`http://127.0.0.2:${port}${path}`, { headers })).status;
    };
    const statuses = async (token: string, key: string) => [
      await status(env.LONGHAND_TASKS_PORT, '/tasks', token),
      await status(env.LONGHAND_EXPANDER_PORT, '/api?u=http://127.0.0.1/', key.repeat(16)),
    ];
    await expect.poll(() => statuses('second', 'b'), { timeout: 30_000 }).toEqual([200, 403]);
    expect(await statuses('first', 'a')).toEqual([401, 401]);
  });

  test('a bad value in .env does not stop a running stack', async () => {
    fs.copyFileSync(join(root, 'deploy/compose/check.sh'), join(folder, 'check.sh'));
    const running = async () => (await outputOf('docker compose ps --quiet')).split('\n').toSorted();
    const before = await running();
    configure(`${front.settings}\nEXPANDER_MAX_REDIRECT=many`);
    const failed = await run(command);
    configure(front.settings);
    const fault = 'EXPANDER_MAX_REDIRECT=many: is not a whole number from 0 to 20';
    expect([failed.code, failed.output]).toEqual([78, expect.stringContaining(fault)]);
    expect(await running()).toEqual(before);
  });

  test('an address or a port that cannot work does not stop a running stack', async () => {
    const containers = async () => (await outputOf('docker compose ps --quiet')).split('\n').toSorted();
    const before = await containers();
    const server = createServer();
    onTestFinished(() => void server.close());
    const taken = `${await listening(server, '127.0.0.2')}`;
    const refused = async (name: string, value: string) => {
      const { code, output } = await run('sh check.sh && docker compose up --detach --wait', {
        [name]: value,
      });
      return [code, /Invalid environment:\n {2}(.*)/.exec(output)?.[1]];
    };
    const cases = [
      [
        'LONGHAND_BIND',
        '192.0.2.7',
        'listen tcp4 192\\.0\\.2\\.7:\\d+: bind: cannot assign requested address',
      ],
      ['LONGHAND_BIND', 'localhost', 'Invalid ip address: localhost'],
      ['LONGHAND_PORT', '80800', 'Invalid containerPort: 80800'],
      ['LONGHAND_TASKS_PORT', taken, `listen tcp4 127.0.0.2:${taken}: bind: address already in use`],
      ['LONGHAND_HTTP_PORT', taken, `listen tcp4 0.0.0.0:${taken}: bind: address already in use`],
    ] as const;
    for (const [name, value, reason] of cases)
      expect(await refused(name, value)).toEqual([
        78,
        expect.stringMatching(new RegExp(`^${name}=${value}: ${reason}$`)),
      ]);
    expect(await containers()).toEqual(before);
    await outputOf(command);
  });

  test('the proxy trusts headers from a front at the fixed address', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-User': 'ada' };
    const visit = `fetch('http://proxy:${env.LONGHAND_PORT}/docs/install', ${JSON.stringify({ headers })}).then(({ status }) => console.log(status))`;
    const place = ['--network', `${project}_front`, '--ip', front.address];
    const visited = await docker('run', '--rm', ...place, 'node:26.10.0-trixie-slim', 'node', '-e', visit);
    expect(visited).toBe('200');
    const log = () => outputOf('docker compose logs --no-log-prefix proxy');
    await expect.poll(log).toMatch(/"path":"\/docs\/install".*"client":"203\.0\.113\.7".*"user":"ada"/);
  });

  test('the proxy serves HTTPS, reloads a changed certificate, and keeps the last pair that matched', async () => {
    const secure = `curl --silent --cacert tls/fullchain.pem --connect-to ::127.0.0.1: https://${name}:${env.LONGHAND_HTTPS_PORT}/tasks -H 'Authorization: Bearer second'`;
    expect(await outputOf(secure)).toContain('<title>');
    const redirect = `curl --silent -o redirected -w '%{redirect_url}' -H Host:${name} http://127.0.0.1:${env.LONGHAND_HTTP_PORT}/tasks`;
    expect(await outputOf(redirect)).toBe(`https://${name}:${env.LONGHAND_HTTPS_PORT}/tasks`);
    await certify();
    await expect.poll(async () => (await run(secure)).code, { timeout: 60_000 }).toBe(0);

    fs.copyFileSync(join(folder, 'tls/fullchain.pem'), join(folder, 'served.pem'));
    writeFileSync(join(folder, 'tls/privkey.pem'), (await testCertificate(name)).key);
    const log = () => outputOf('docker compose logs --no-log-prefix tls');
    await expect.poll(log, { timeout: 60_000 }).toContain('The last pair that matched stays.');
    await outputOf('docker compose restart tls');
    const served = secure.replace('tls/fullchain.pem', 'served.pem');
    await expect.poll(async () => (await run(served)).code, { timeout: 60_000 }).toBe(0);
    await certify();
    await expect.poll(async () => (await run(secure)).code, { timeout: 60_000 }).toBe(0);
  });

  test('the HTTPS port accepts only IPv4 and logs client addresses', async (context) => {
    const port = Number(env.LONGHAND_HTTPS_PORT);
    const [v4, v6] = [`10.${port >> 8}.${port & 255}`, `fd00:0:${port.toString(16)}`];
    const [here, hereV6, there, thereV6] = [`${v4}.1`, `${v6}::1`, `${v4}.2`, `${v6}::2`];
    onTestFinished(async () => void (await run(`ip netns delete t${port}`)));
    const setup = await run(`
      ip netns add t${port}
      ip link add t${port} type veth peer name out netns t${port}
      ip link set t${port} up && ip -n t${port} link set out up
      ip address add ${here}/24 dev t${port} && ip -n t${port} address add ${there}/24 dev out
      ip address add ${hereV6}/64 dev t${port} nodad && ip -n t${port} address add ${thereV6}/64 dev out nodad`);
    context.skip(setup.code !== 0, `a network namespace needs root, iproute2 and IPv6: ${setup.output}`);
    const curl = `ip netns exec t${port} curl --silent --insecure https://${name}:${port}/there`;
    const visit = (address: string) => run(`${curl} --connect-to ::${address}:`);
    expect((await visit(here)).code).toBe(0);
    const log = () => outputOf('docker compose logs --no-log-prefix tls');
    await expect.poll(log).toMatch(new RegExp(`"path":"/there".*"client":"${there}"`));
    const connectionRefused = 7;
    expect((await visit(`[${hereV6}]`)).code).toBe(connectionRefused);
  });
});
