import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A program that holds connections open as a hostile crowd does, and opens a new one for each that the server closes.
 * Its only argument is a `Hold` as JSON; once a second it writes a `Held` as a line of JSON. It imports nothing of this
 * project, so that it runs in any container with Node.
 */
export interface Hold {
  kind: keyof typeof habits;
  host: string;
  port: number;
  count: number;
  /** Local address of the connections; the system's choice otherwise. */
  from?: string;
  /** Bytes of headers that an `unfinished` request sends. */
  bytes?: number;
  /** What a `reader` asks for. */
  path?: string;
}

export interface Held {
  open: number;
  /** Connections opened since the start. */
  opened: number;
  /** How many answers began with which status. */
  statuses: Record<string, number>;
}

/** What a connection sends at first, and how many bytes a second it then reads; undefined is all there are. */
const habits = {
  /** Headers without an end. */
  unfinished: ({ bytes = 100 }: Hold) => ({ sends: unfinished(bytes), reads: undefined }),
  /** One request, then nothing. */
  idle: () => ({ sends: request('/nowhere', 'elsewhere.example'), reads: undefined }),
  stream: () => ({ sends: request('/tasks/events'), reads: undefined }),
  /** A long answer, taken a kilobyte a second. */
  reader: ({ path = '/' }: Hold) => ({ sends: request(path), reads: 1_024 }),
};

const request = (path: string, host = 'localhost') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

function unfinished(bytes: number): string {
  const start = 'GET / HTTP/1.1\r\nHost: localhost\r\n';
  const line = `X-Header: ${'x'.repeat(986)}\r\n`;
  const end = 'X-Last: ';
  const whole = Math.floor((bytes - start.length - end.length) / line.length);
  return start + line.repeat(Math.max(0, whole)) + end;
}

/** Connections opened in one turn, and milliseconds between turns: a crowd that comes all at once is refused by the kernel. */
const turn = { size: 50, pause: 10 };
/** Milliseconds before a connection that was closed is opened again. */
const again = 700;

async function hold(options: Hold): Promise<void> {
  const held: Held = { open: 0, opened: 0, statuses: {} };
  const { sends, reads } = habits[options.kind](options);
  const { host, port, from } = options;
  const one = () => {
    const socket = connect({ host, port, ...(from && { localAddress: from }) });
    socket.on('connect', () => {
      held.open += 1;
      held.opened += 1;
      socket.on('close', () => {
        held.open -= 1;
      });
      socket.write(sends);
    });
    socket.once('data', (data) => {
      const status = data.toString('latin1').split(' ')[1] ?? '';
      held.statuses[status] = (held.statuses[status] ?? 0) + 1;
      if (reads !== undefined) slow(socket, reads);
    });
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(one, again * (1 + Math.random())));
  };
  setInterval(() => console.log(JSON.stringify(held)), 1_000);
  // It ends with the one who started it.
  process.stdin.resume().on('end', () => process.exit());
  for (let started = 0; started < options.count; started += 1) {
    one();
    if (started % turn.size === 0) await sleep(turn.pause);
  }
}

/** Takes `bytes` from the socket each second. */
function slow(socket: ReturnType<typeof connect>, bytes: number): void {
  socket.removeAllListeners('data').pause();
  const timer = setInterval(() => socket.read(bytes), 1_000);
  socket.on('readable', () => {}).on('close', () => clearInterval(timer));
}

if (import.meta.main) await hold(JSON.parse(process.argv[2] ?? ''));
