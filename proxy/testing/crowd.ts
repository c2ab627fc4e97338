import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Connections that a simulated attacker keeps open, and reopens when the server closes them. */
export interface Hold {
  kind: keyof typeof payloads;
  port: number;
  count: number;
  /** Local address of the connections. */
  from: string;
  /** Number of bytes of an `unfinished` request's headers, or of a body. */
  bytes?: number;
  path?: string;
}

/** Raw requests by type of connection. */
const payloads = {
  /** Headers that never end. */
  unfinished: ({ bytes = 100 }: Hold) => unfinished(bytes),
  /** One request, then nothing. */
  idle: () => request('/nowhere', 'elsewhere.example'),
  stream: () => request('/tasks/events'),
  /** A request with an oversized Content-Length and a request line of almost 32 KB. */
  refused: ({ path = '/' }: Hold) =>
    `POST ${path}?${'x'.repeat(31_000)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n`,
  /** A body that lacks its last byte. */
  upload: ({ path = '/task', bytes = 65_536 }: Hold) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes - 1)}`,
  /** A body without a length, in chunks of one byte, that never ends. */
  chunks: ({ path = '/task', bytes = 65_536 }: Hold) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(bytes)}`,
  /** Reads the response at 1 KB/s. */
  reader: ({ path = '/' }: Hold) => request(path),
};

const request = (path: string, host = 'localhost') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

function unfinished(bytes: number): string {
  const start = 'GET / HTTP/1.1\r\nHost: localhost\r\n';
  const line = `X-Header: ${'x'.repeat(986)}\r\n`;
  const end = 'X-Last: ';
  const whole = Math.floor((bytes - start.length - end.length) / line.length);
  return start + line.repeat(Math.max(0, whole)) + end;
}

const nothing = {
  open: 0,
  /** Total number of connections opened. */
  opened: 0,
  /** Responses by status. */
  statuses: {} as Record<string, number>,
};

/** Opens the connections in another process, because many systems limit a process to 20,000 open files. */
export function startCrowd(options: Hold) {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let held = nothing;
  const lines = createInterface(child.stdout).on('line', (line) => {
    held = JSON.parse(line);
  });
  return {
    held: () => held,
    /** Resolves once all connections are open. */
    async reached() {
      while (held.open < options.count) await once(lines, 'line');
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

/** Connections per batch, and the pause between batches (ms). The accept queue would overflow in larger bursts. */
const batch = { size: 50, pause: 10 };
/** Min time before a closed connection reopens (ms). */
const reconnectDelay = 700;

/** Keeps the connections open until stdin closes. Prints the counts every second as a JSON line. */
async function hold(options: Hold): Promise<void> {
  const held = structuredClone(nothing);
  const bytes = payloads[options.kind](options);
  const openConnection = () => {
    const socket = connect({ host: '127.0.0.1', port: options.port, localAddress: options.from });
    socket.on('connect', () => {
      held.open += 1;
      held.opened += 1;
      socket.on('close', () => {
        held.open -= 1;
      });
      socket.write(bytes);
    });
    socket.once('data', (data) => {
      const status = data.toString('latin1').split(' ')[1] ?? '';
      held.statuses[status] = (held.statuses[status] ?? 0) + 1;
      if (options.kind === 'reader') slow(socket, 1_024);
    });
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(openConnection, reconnectDelay * (1 + Math.random())));
  };
  setInterval(() => console.log(JSON.stringify(held)), 1_000);
  process.stdin.resume().on('end', () => process.exit());
  for (let started = 0; started < options.count; started += 1) {
    openConnection();
    if (started % batch.size === 0) await sleep(batch.pause);
  }
}

/** Reads `bytes` from the socket each second. */
function slow(socket: ReturnType<typeof connect>, bytes: number): void {
  socket.removeAllListeners('data').pause();
  const timer = setInterval(() => socket.read(bytes), 1_000);
  socket.on('readable', () => {}).on('close', () => clearInterval(timer));
}

if (import.meta.main) await hold(JSON.parse(process.argv[2] ?? ''));
