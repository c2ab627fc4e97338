import { randomUUID } from 'node:crypto';
import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { startCrowd } from '@longhand/proxy/testing/crowd.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ComposedStack } from '../testing/composed.ts';
import { openSession } from '../testing/session.ts';
import { type ServiceName, serviceNames } from '../testing/test-stack.ts';

/** The fields of `docker inspect` that these tests use. */
interface Container {
  Id: string;
  Config: { User: string; Labels: Record<string, string> };
  HostConfig: {
    PortBindings: Record<string, { HostIp: string; HostPort: string }[]> | null;
    ReadonlyRootfs: boolean;
    Memory: number;
    CpuShares: number;
    LogConfig: { Config: Record<string, string> };
  };
  NetworkSettings: { Networks: Record<string, { IPAddress: string; IPPrefixLen: number }> };
}

/** JavaScript to run in a container. Sends requests to the task list and returns the response bodies. */
const sendRequests = `async (requests) => {
  const { request } = await import('node:http');
  return Promise.all(requests.map(({ address, port, host, method }) => new Promise((resolve) => {
    const headers = { Host: host, Accept: 'application/json', 'Content-Type': 'application/json' };
    const sent = request({ host: address, port, path: '/tasks', method, headers, timeout: 2_000, agent: false });
    sent.on('timeout', () => sent.destroy()).on('error', () => resolve(''));
    sent.on('response', (response) => response.toArray().then((body) => resolve(body.join('')), () => resolve('')));
    sent.end(method === 'POST' ? '{"title":"by the expander"}' : '');
  })));
}`;

/** The fields of `docker compose config` that these tests use. */
interface ConfiguredService {
  networks?: Record<string, { aliases?: string[] } | null>;
  volumes?: { source: string }[];
}

/** JavaScript to run in a container. Returns the addresses that accept a TCP connection. */
const findReachable = `async (addresses) => {
  const { connect } = await import('node:net');
  const accepts = (host, port) => new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (accepted) => () => resolve(accepted, socket.destroy());
    socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  });
  const reached = await Promise.all(addresses.map(({ host, port }) => accepts(host, port)));
  return addresses.filter((_, i) => reached[i]);
}`;

/** Returns the TCP ports in /proc/net/tcp on which a container listens, except for Docker's name server. */
const listeningPorts = (table: string) =>
  Array.from(table.matchAll(/: (?!0B00007F)\w+:(\w{4}) \w+:0000 0A /g), ([, port = '']) =>
    Number.parseInt(port, 16),
  );

/** Defines the tests for a stack in containers. */
export function containerRules(stack: () => ComposedStack): void {
  const containers = new Map<string | undefined, Container>();
  beforeAll(async () => {
    const ids = (await stack().compose('ps', '--quiet')).split('\n');
    for (const container of JSON.parse(await docker('inspect', ...ids)) as Container[])
      containers.set(container.Config.Labels['com.docker.compose.service'], container);
  });
  const container = (service: ServiceName) => containers.get(service) as Container;
  const inside = (service: ServiceName, ...command: string[]) =>
    docker('exec', container(service).Id, ...command);
  const shell = (service: ServiceName, script: string) => inside(service, 'sh', '-c', script);
  /** Whether a container can open a TCP connection to `host`. */
  const connects = (service: ServiceName, host: string, port: number) =>
    shell(service, `timeout 2 bash -c '</dev/tcp/${host}/${port}' 2>/dev/null && echo yes || echo no`);

  /** Returns the services of every profile in docker-compose.yml. */
  const configuredServices = async (): Promise<Record<string, ConfiguredService>> =>
    JSON.parse(await stack().compose('--profile', '*', 'config', '--format', 'json')).services;

  test("longhand-expand runs in the expander's container", async () => {
    const url = `${stack().shortener}/chain/2`;
    const line = await inside('expander', 'longhand-expand', '--format=tsv', url);
    const end = `final\tunencrypted\tIt leads to ${new URL(url).host}`;
    expect(line).toBe(`1\t${url}\t${stack().shortener}/chain/0\t2\t\t${end}`);
  });

  test.each([
    ['expander', 'longhand-expand --follow=all http://10.0.0.1/', 'hop/browse.ts'],
    ['expander', 'PORT=none node expander/src/main.ts', 'expander/src/main.ts'],
    ['tasks', 'PORT=none node tasks/src/main.ts', 'tasks/src/main.ts'],
  ] as const)("%s uses its image's compile cache: %s", async (service, command, file) => {
    const script = `NODE_DEBUG_NATIVE=COMPILE_CACHE ${command} 2>&1 || true; ls compiled/*`;
    const output = await shell(service, script);
    const reads = output.split('\n').filter((line) => line.includes('reading cache'));
    expect(reads).toContainEqual(expect.stringContaining(file));
    expect(reads.filter((line) => !line.includes('success'))).toEqual([]);
    // The image also contains the browser scripts, compiled to JavaScript.
    if (service === 'tasks') expect(output).toMatch(/^[0-9a-f]{64}\.js$/m);
  });

  test("270 unfinished uploads of one client do not fill the proxy's /run", { timeout: 60_000 }, async () => {
    const where = { port: stack().tasksPort, from: '127.0.0.1', path: '/tasks/import' };
    const crowd = startCrowd({ kind: 'upload', count: 270, bytes: 1024 ** 2, ...where });
    onTestFinished(() => crowd.stop());
    await expect.poll(() => crowd.held().opened, { timeout: 30_000 }).toBeGreaterThanOrEqual(270);
    // The container itself is another client. nginx writes a body of this size to disk.
    const file = "printf '%0100000d' 0 | tr 0 '\\n'";
    const headers = "--header 'Content-Type: text/plain' --header 'Sec-Fetch-Site: same-origin'";
    const url = `http://127.0.0.1:${stack().tasksPort}/tasks/import`;
    const curl = `curl --silent --output /dev/null --write-out '%{http_code} ' ${headers} --data-binary @- ${url}`;
    const statuses = await shell('proxy', `for i in $(seq 20); do ${file} | ${curl}; done`);
    expect(statuses.trim().split(' ')).toEqual(Array.from({ length: 20 }, () => '200'));
  });

  describe('Network access', () => {
    test("the stack publishes only the proxy's three ports, on 127.0.0.1", () => {
      const { port, expanderPort, tasksPort } = stack();
      for (const service of serviceNames) {
        const bindings = Object.values(container(service).HostConfig.PortBindings ?? {}).flat();
        const published = bindings.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`);
        const expected = service === 'proxy' ? [port, expanderPort, tasksPort] : [];
        expect(published.toSorted()).toEqual(expected.map((port) => `127.0.0.1:${port}`).toSorted());
      }
    });

    test('the host cannot reach tasks or a Redis server directly', () => {
      const hosts = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
      const network = new BlockList();
      for (const service of ['tasks', 'tasks-store', 'expander-cache'] as const)
        for (const { IPAddress, IPPrefixLen } of Object.values(container(service).NetworkSettings.Networks))
          network.addSubnet(IPAddress, IPPrefixLen);
      expect(hosts.filter(({ address, family }) => family === 'IPv4' && network.check(address))).toEqual([]);
    });

    test('each Redis server is reachable only from its service', async () => {
      const reach: [ServiceName, string, number, string][] = [
        ['expander', 'expander-cache', 6379, 'yes'],
        ['tasks', 'tasks-store', 6379, 'yes'],
        ['expander', 'tasks-store', 6379, 'no'],
        ['tasks', 'expander-cache', 6379, 'no'],
        ['proxy', 'expander-cache', 6379, 'no'],
        ['proxy', 'tasks-store', 6379, 'no'],
        ['expander', 'tasks', 3000, 'no'],
        ['tasks', 'expander', 3000, 'no'],
      ];
      const found = reach.map(async ([from, to, port]) => [from, to, port, await connects(from, to, port)]);
      expect(await Promise.all(found)).toEqual(reach);
    });

    test('the expander can reach only its cache', { timeout: 60_000 }, async () => {
      const services = await configuredServices();
      const running = [...containers.values()].filter(({ Id }) => Id !== container('expander').Id);
      const tables = running.map(({ Id }) => docker('exec', Id, 'cat', '/proc/net/tcp', '/proc/net/tcp6'));
      const ports = [...new Set((await Promise.all(tables)).flatMap(listeningPorts))];
      // Each service listens somewhere.
      expect(ports).toEqual(expect.arrayContaining([3000, 3903, 6379, 9090, 9100, 9464]));
      const namesOf = (service: string) => {
        const attached = Object.values(services[service]?.networks ?? {});
        const aliases = attached.flatMap((network) => network?.aliases ?? []);
        // Packets to other networks would leave the stack through the gateway.
        const networks = Object.entries(containers.get(service)?.NetworkSettings.Networks ?? {});
        const shared = networks.filter(([name]) => name in container('expander').NetworkSettings.Networks);
        return [service, ...aliases, ...shared.map(([, { IPAddress }]) => IPAddress)];
      };
      const others = Object.keys(services).filter(
        (service) => service !== 'expander' && containers.has(service),
      );
      const addresses = others.flatMap((service) =>
        namesOf(service).flatMap((host) => ports.map((port) => ({ service, host, port }))),
      );
      const script = `(${findReachable})(${JSON.stringify(addresses)}).then((all) => console.log(JSON.stringify(all)))`;
      const found: typeof addresses = JSON.parse(await inside('expander', 'node', '--eval', script));
      const reached: Record<string, number[]> = {};
      for (const { service, port } of found)
        reached[service] = [...new Set([...(reached[service] ?? []), port])].toSorted((a, b) => a - b);
      // The tests expand the shortener's links.
      expect(reached).toEqual({ 'expander-cache': [6379], shortener: [9000] });
    });

    test('Prometheus scrapes every service and exporter', async () => {
      const published = await stack().compose('port', 'prometheus', '9090');
      const jobs = async () => {
        const response = await fetch(`http://${published}/api/v1/query?query=up==1`);
        const { data } = (await response.json()) as { data: { result: { metric: { job: string } }[] } };
        return data.result.map(({ metric }) => metric.job).toSorted();
      };
      await expect.poll(jobs, { timeout: 30_000 }).toEqual(['disk', 'expander', 'proxy', 'tasks']);
    });

    test('the expander cannot reach the list through the proxy', async () => {
      const title = `not for the expander ${randomUUID()}`;
      const session = openSession(stack().tasksPort);
      await session.add(title);
      const addresses = Object.values(container('proxy').NetworkSettings.Networks);
      const { port, expanderPort, tasksPort } = stack();
      const requests = ['proxy', 'fenced', ...addresses.map(({ IPAddress }) => IPAddress)].flatMap(
        (address) =>
          [port, expanderPort, tasksPort].flatMap((port) =>
            ['tasks.localhost', 'expander.localhost', 'localhost', 'proxy', address, '127.0.0.1', ''].flatMap(
              (host) => ['GET', 'POST'].map((method) => ({ address, port, host, method })),
            ),
          ),
      );
      const script = `(${sendRequests})(${JSON.stringify(requests)}).then((all) => console.log(JSON.stringify(all)))`;
      const bodies: string[] = JSON.parse(await inside('expander', 'node', '--eval', script));
      expect(requests.filter((_, i) => bodies[i]?.includes(title))).toEqual([]);
      expect((await session.tasks()).map((task) => task.title)).toContain(title);
      expect((await session.tasks()).filter((task) => task.title.startsWith('by the expander'))).toEqual([]);
    });

    test('only the expander can reach the internet', async () => {
      for (const service of serviceNames) {
        const names = Object.keys(container(service).NetworkSettings.Networks);
        const format = '{{.Internal}} {{index .Options "com.docker.network.bridge.enable_ip_masquerade"}}';
        const networks = (await docker('network', 'inspect', ...names, '--format', format)).split('\n');
        const open = networks.some((line) => line.startsWith('false') && !line.endsWith(' false'));
        expect([service, open]).toEqual([service, service === 'expander']);
      }
    });
  });

  describe('Privileges', () => {
    test('no process runs as root', async () => {
      for (const service of serviceNames) {
        expect(container(service).Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
        const uids = (await docker('top', container(service).Id, '-o', 'uid,pid')).split('\n').slice(1);
        expect(uids.length).toBeGreaterThan(0);
        for (const uid of uids) expect(Number.parseInt(uid, 10)).toBeGreaterThan(0);
      }
    });

    test('containers have resource limits and no capabilities', async () => {
      for (const service of serviceNames) {
        const status = await inside(service, 'cat', '/proc/1/status');
        expect(status).toMatch(/^CapEff:\s+0+$/m);
        expect(status).toMatch(/^CapBnd:\s+0+$/m);
        expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
        const { ReadonlyRootfs, Memory, CpuShares, LogConfig } = container(service).HostConfig;
        expect(ReadonlyRootfs).toBe(true);
        expect(Memory).toBeGreaterThan(0);
        expect(CpuShares).toBe(service === 'expander' ? 128 : 0);
        expect(LogConfig.Config['max-size']).toBe('10m');
      }
    });

    test('service images contain no tests or build tools', async () => {
      for (const service of ['expander', 'tasks'] as const) {
        const found = await shell(service, "find /app -name '*.test.ts' -not -path '*/node_modules/*'");
        expect(found).toBe('');
        const packages = await inside(service, 'ls', '/app/node_modules');
        expect(packages).not.toMatch(/^(typescript|vitest|@biomejs|testcontainers|playwright-core)$/m);
        const programs = 'for name in node npm npx corepack yarn; do command -v $name; done; true';
        expect(await shell(service, programs)).toBe('/usr/local/bin/node');
      }
    });

    test('each Redis requires a password that only its own service can read', async () => {
      const password = (service: ServiceName) => inside(service, 'cat', '/run/redis/password');
      for (const redis of ['expander-cache', 'tasks-store'] as const) {
        expect(await shell(redis, 'redis-cli get x 2>&1')).toContain('NOAUTH');
        expect(await inside(redis, 'redis.sh', 'cli', 'ping')).toBe('PONG');
        // A process may exit before `cat` reads its files.
        const visible = 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null || true';
        expect(await shell(redis, visible)).not.toContain(await password(redis));
      }
      expect(await password('expander-cache')).toMatch(/^[0-9a-f]{64}$/);
      expect(await password('expander')).toBe(await password('expander-cache'));
      expect(await password('tasks')).toBe(await password('tasks-store'));
      expect(await password('tasks')).not.toBe(await password('expander'));
      expect(await shell('tasks', 'echo x 2>&1 >/run/redis/x; true')).toContain('Read-only');
      const users = (volume: string) => (name: string) =>
        services[name]?.volumes?.some((one) => one.source === volume);
      const services = await configuredServices();
      const readers = {
        'expander-cache': ['expander', 'expander-cache'],
        'tasks-store': ['backup', 'tasks', 'tasks-store'],
      };
      for (const [redis, names] of Object.entries(readers))
        expect(Object.keys(services).filter(users(`${redis}-password`))).toEqual(names);
    });
  });
}
