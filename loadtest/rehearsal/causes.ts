/** Faults, what undoes them, and what is looked at afterwards. */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RehearsedStack, Service } from './containers.ts';
import type { Step } from './fault.ts';
import { added, remove } from './ledger.ts';
import { send } from './load.ts';
import { disguises } from './smuggled.ts';
import { pause, until } from './until.ts';

const services = ['expander', 'tasks'] as const;

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);

/** Sends a signal to the first replica of each service; what it stops continues afterwards. */
export const signalled =
  (name: 'KILL' | 'STOP', ...services: Service[]): Step =>
  async (stack, drill) => {
    const replicas = await Promise.all(services.map(stack.first));
    drill.began = Date.now();
    const send = (name: string) => Promise.all(replicas.map((replica) => stack.signal(replica, name)));
    await send(name);
    return name === 'STOP' ? () => send('CONT') : undefined;
  };

/** Ends the services one by one, while another replica runs, or the proxy. */
export const terminated =
  (rounds: number, ...services: Service[]): Step =>
  async (stack, drill) => {
    let longest = 0;
    for (let round = 0; round < rounds * services.length; round++) {
      const service = services[round % services.length] as Service;
      const exit = await stack.terminate(service, await stack.first(service));
      drill.ended = Date.now();
      longest = Math.max(longest, exit.seconds);
      if (exit.code !== '0') drill.broken.push(`${service} exited with code ${exit.code}`);
      await stack.settled();
      // Docker restarts at once only what ran for 10 s.
      await pause(5);
    }
    drill.notes.push(`exits after at most ${longest.toFixed(1)} s`);
    if (longest > 10) drill.broken.push(`an exit took ${longest.toFixed(1)} s`);
  };

/** What hung was killed. */
export const wereKilled: Step = async (stack, drill) => {
  for (const service of services) {
    const [exit] = await stack.exits(service, drill.began);
    if (exit) drill.notes.push(`${service} was killed after ${seconds(exit.at - drill.began)} s`);
    else drill.broken.push(`${service} was not killed`);
  }
};

/** Takes a replica of each service off the proxy's network. */
export const cutOff: Step = async (stack, drill) => {
  const replicas = await Promise.all(services.map(stack.first));
  drill.began = Date.now();
  const back = await Promise.all(services.map((service, i) => stack.cutOff(service, replicas[i] ?? '')));
  return () => Promise.all(back.map((restore) => restore()));
};

/** What a replica of the expander logs when its cache goes, or comes back. */
const changes = /redis is (?:away|back)|the cache in Redis (?:did not answer|answers again)/;

/** @param most lines for each replica: the connection and the responses each say that the cache goes, and comes back. */
export const loggedChanges =
  (most: number): Step =>
  async (stack, drill) => {
    await pause(2);
    const said = (await stack.log('expander', drill.began)).filter((line) => changes.test(line)).length;
    const replicas = (await stack.replicas('expander')).length;
    drill.notes.push(`${said} log lines`);
    if (said > most * replicas) drill.broken.push(`${said} log lines of ${replicas} replicas`);
  };

export const fillCache: Step = async (stack) => {
  const set = (memory: string, policy: string) =>
    stack.redis('expander-cache', 'CONFIG', 'SET', 'maxmemory', memory, 'maxmemory-policy', policy);
  await set('1', 'noeviction');
  return () => set('64mb', 'allkeys-lfu');
};

/** Waits until Redis has loaded its file. */
const storeAnswers = (stack: RehearsedStack) =>
  until(async () => (await stack.redis('tasks-store', 'PING').catch(() => '')) === 'PONG', 30);

export const killStore: Step = async (stack, drill) => {
  await signalled('KILL', 'tasks-store')(stack, drill);
  await storeAnswers(stack);
};

export const restartStore: Step = async (stack) => {
  await stack.terminate('tasks-store', await stack.first('tasks-store'));
  await storeAnswers(stack);
};

export const fillStore: Step = async (stack) => {
  const set = (memory: string) => stack.redis('tasks-store', 'CONFIG', 'SET', 'maxmemory', memory);
  await set('1');
  return () => set('256mb');
};

export const fillDisk: Step = async (stack) => {
  await stack.inside('disk', 'cat /dev/zero >filler 2>/dev/null || true');
  return () => stack.inside('disk', 'rm filler');
};

/** @param full seconds for which the disk was full. */
export const storeExits =
  (full: number): Step =>
  async (stack, drill) => {
    await pause(15);
    await stack.settled();
    const exits = await stack.exits('tasks-store', drill.began);
    // Each replica tries two writes, then one every 12 s.
    const most = (await stack.replicas('tasks')).length * 2 * (1 + Math.floor(full / 12));
    drill.exits = exits.map(({ at }) => at);
    drill.notes.push(`Redis exited ${exits.length} times`);
    if (exits.length > most) drill.broken.push(`Redis exited ${exits.length} times, not ${most}`);
  };

/** A log line that says how to get the data back. */
const wayOut = /redis-check-aof|make restore/;

/**
 * Damages the append-only file, lets the store read it, and puts the whole file back.
 *
 * @param script runs in the folder of the file.
 */
export const damaged =
  (script: string): Step =>
  async (stack, drill) => {
    const { tasks } = stack.urls;
    const prefix = `rehearsal-${Date.now()}`;
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    for (const title of [`${prefix} 1`, `${prefix} 2`, `${prefix} 3`])
      await fetch(`${tasks}/tasks`, { method: 'POST', headers, body: JSON.stringify({ title }) });
    const kill = async () => stack.signal(await stack.first('tasks-store'), 'KILL');
    const listed = () => added(tasks, prefix).catch(() => undefined);
    await stack.inside('disk', 'rm -rf whole && cp -a appendonlydir whole');
    try {
      await stack.inside('disk', `cd appendonlydir && ${script}`);
      await kill();
      // Docker waits longer each time before it restarts what ended soon after its start, also in another row.
      const { found, said } = await until(async () => {
        const found = await listed();
        const said = (await stack.log('tasks-store', drill.began)).find((line) => wayOut.test(line));
        return found || said ? { found, said } : undefined;
      }, 90);
      drill.notes.push(found ? `started with ${found.length} of 3 tasks` : 'did not start');
      if (said) drill.notes.push(`said: ${said.slice(0, 240)}`);
      // The last command may have been cut.
      if (found && found.length < 2) drill.broken.push(`it started with ${found.length} of 3 tasks`);
    } finally {
      await stack.inside('disk', 'rm -rf appendonlydir && mv whole appendonlydir');
      await kill();
      await until(async () => (await listed())?.length === 3, 90);
    }
    await remove(tasks, await added(tasks, prefix));
  };

export const emptyCaches: Step = (stack) => stack.inside('proxy', 'rm -rf answers/* files/*');

export const lockCaches: Step = async (stack) => {
  await stack.inside('proxy', 'rm -rf answers/* files/*; chmod 500 answers files');
  return () => stack.inside('proxy', 'chmod 700 answers files');
};

/** Paths of the shortener that behave badly. */
const hostile = ['/hang', '/endless', '/headers/1000000', '/reset', '/malformed', '/loop', '/delay/60000'];

/** Requests 10,000 hostile targets. The load comes from the same address, so it shares the limits of this. */
export const requestHostileTargets: Step = async (stack, drill) => {
  const [count, inFlight, rest] = [10_000, 150, 0.3];
  let started = 0;
  let longest = 0;
  const statuses: number[] = [];
  const side = async () => {
    while (started < count) {
      const target = `${stack.otherShortener}${hostile[started++ % hostile.length]}?id=${randomUUID()}`;
      const start = Date.now();
      const { status } = await send(`${stack.urls.expander}/api?u=${encodeURIComponent(target)}`);
      longest = Math.max(longest, Date.now() - start);
      statuses.push(status);
      await pause(rest);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, side));
  const times = [...Map.groupBy(statuses, (status) => status)];
  drill.notes.push(times.map(([status, { length }]) => `${length} × ${status}`).join(', '));
  drill.notes.push(`the slowest took ${seconds(longest)} s`);
  if (longest > 8_000) drill.broken.push(`one took ${seconds(longest)} s`);
};

/** A connection to the tasks, which no error ends. */
function openConnection(stack: RehearsedStack): Socket {
  const { hostname, port } = new URL(stack.urls.tasks);
  return connect(Number(port), hostname).on('error', () => {});
}

/** Bytes that clients send, and on how many connections. */
const hostileConnections: readonly (readonly [string, number])[] = [
  ['GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 300],
  ['GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', 300],
  ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20), 50],
  ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\x00\xff garbage\r\n\r\n', 50],
];

/** Clients that are slow, never read, or send nonsense. */
export const openHostileConnections: Step = async (stack) => {
  const sockets = hostileConnections.flatMap(([bytes, count]) =>
    Array.from({ length: count }, () => {
      const socket = openConnection(stack);
      socket.pause().write(bytes);
      return socket;
    }),
  );
  return async () => {
    for (const socket of sockets) socket.destroy();
  };
};

export const smuggleRequests: Step = async (stack, drill) => {
  const title = `rehearsal-smuggled-${randomUUID()}`;
  const body = JSON.stringify({ title });
  const json = 'Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n';
  const hidden = `POST /tasks HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`;
  for (const bytes of disguises(hidden, json)) {
    const socket = openConnection(stack);
    socket.end(bytes);
    await Promise.race([text(socket).catch(() => ''), pause(2)]);
  }
  const found = await added(stack.urls.tasks, title);
  if (found.length > 0) drill.broken.push(`${found.length} hidden writes were carried out`);
  await remove(stack.urls.tasks, found);
};
