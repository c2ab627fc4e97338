import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { isIP, type OnReadOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Milliseconds a socket may stay idle: one less second than Node's own server allows. */
const idleTimeout = 4_000;

/** Idle sockets kept over all origins. The oldest makes room, so idle sockets never keep a new origin waiting. */
export const maxIdleSockets = 256;

const defaults = {
  keepAlive: true,
  timeout: idleTimeout,
  // Subtracted from a server's `Keep-Alive: timeout`, so that a socket is not used as the server closes it.
  agentKeepAliveTimeoutBuffer: 1_000,
  maxSockets: 64,
  maxFreeSockets: 64,
  maxTotalSockets: 1_024 + maxIdleSockets,
  scheduling: 'lifo',
} satisfies http.AgentOptions;

/**
 * Creates an agent for `http:` that keeps connections alive and enables TCP no-delay on every socket it creates,
 * whatever `options` say. Without no-delay, Nagle's algorithm holds back the second write of a request
 * until the server's delayed acknowledgement of the first, about 40 ms later.
 *
 * Idle sockets are closed after 4 s, or 1 s before the server's `Keep-Alive: timeout` where that is sooner.
 * `options` are those of `http.Agent` (`lookup` included); they are copied, and win over the bounds above.
 */
export function httpAgent(options: http.AgentOptions = {}): http.Agent {
  return bounded(new HttpAgent({ ...defaults, ...options }));
}

/** The same for `https:`, with the options of `https.Agent`. */
export function httpsAgent(options: https.AgentOptions = {}): https.Agent {
  return bounded(new HttpsAgent({ ...defaults, ...options }));
}

/** TLS sessions kept, one per host: resuming a session halves the cost of the next connection to its host. */
const maxSessions = 1_000;
/** Bytes of a session worth keeping; the usual ones are half as long. */
const maxSessionSize = 4_096;

export type Agents = Record<'http:' | 'https:', http.Agent>;

/** Node's type of an agent lacks the options it was created with. */
type AgentWithOptions = http.Agent & { readonly options: http.AgentOptions };

/** Where a connection leads, in the parts of a URL. */
interface ConnectTarget {
  protocol: string;
  hostname: string;
  port: string;
}

type Connected = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/**
 * Opens sockets by way of `agents`, so these have TCP no-delay on and use the agents' `lookup`, and TLS sessions are
 * resumed. It never times out by itself. It may be the `connect` option of an undici client.
 *
 * @returns a function that calls back once the connection is open, and returns the socket at once. `onread` is that of
 *   `net.connect`: it gets what arrives, without the cost of a stream.
 */
export function connector(agents: Agents) {
  const sessions = new Map<string, Buffer>();
  const remember = (host: string, session: Buffer) => {
    if (session.length > maxSessionSize) return;
    sessions.delete(host);
    sessions.set(host, session);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest) sessions.delete(oldest);
  };

  return ({ protocol, hostname, port }: ConnectTarget, callback: Connected, onread?: OnReadOpts): Socket => {
    const agent = agents[protocol as keyof Agents] as AgentWithOptions;
    const host = `${hostname}:${port}`;
    const socket = agent.createConnection({
      ...agent.options,
      onread,
      timeout: undefined,
      host: hostname,
      port: port || (protocol === 'https:' ? 443 : 80),
      servername: isIP(hostname) ? '' : hostname,
      session: sessions.get(host),
    } as http.ClientRequestArgs) as Socket;
    const connected = once(socket, protocol === 'https:' ? 'secureConnect' : 'connect');
    connected.then(
      () => callback(null, socket),
      (error: Error) => callback(error, null),
    );
    // Node's agent forgets the sessions of sockets that are cut.
    return socket.on('session', (session) => remember(host, session));
  };
}

/** Whatever forms of `createConnection` Node's agents accept, these do. */
class HttpAgent extends http.Agent {
  override createConnection(...args: Parameters<http.Agent['createConnection']>) {
    return noDelay(super.createConnection(...args));
  }
}

class HttpsAgent extends https.Agent {
  override createConnection(...args: Parameters<https.Agent['createConnection']>) {
    return noDelay(super.createConnection(...args));
  }
}

function noDelay<Stream extends Duplex | null | undefined>(stream: Stream): Stream {
  (stream as { setNoDelay?(enable: boolean): void } | null | undefined)?.setNoDelay?.(true);
  return stream;
}

/** Bounds the idle sockets of all origins together to `maxIdleSockets`. */
function bounded<Agent extends http.Agent>(agent: Agent): Agent {
  return agent.on('free', () => {
    let idle = 0;
    for (const origin in agent.freeSockets) idle += agent.freeSockets[origin]?.length ?? 0;
    if (idle <= maxIdleSockets) return;
    // Origins are listed in the order in which they first fell idle: the first socket is an old one.
    Object.values(agent.freeSockets)[0]?.[0]?.destroy();
  });
}
