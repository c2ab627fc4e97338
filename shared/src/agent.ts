import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';

/** Milliseconds a socket may stay idle: one second less than the 5 s after which Node's own server closes it. */
const idleTimeout = 4_000;

/** Idle sockets kept over all origins; the oldest makes room, so idle ones never keep a new origin waiting. */
const maxIdleSockets = 256;

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
 * An agent for `http:` that keeps connections and enables TCP no-delay on every socket it creates,
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

type Connected = (error: Error | null, stream: Duplex) => void;

class HttpAgent extends http.Agent {
  override createConnection(options: http.ClientRequestArgs, connected?: Connected) {
    return noDelay(super.createConnection(options, connected));
  }
}

class HttpsAgent extends https.Agent {
  override createConnection(options: https.RequestOptions, connected?: Connected) {
    return noDelay(super.createConnection(options, connected));
  }
}

function noDelay<Stream extends Duplex | null | undefined>(stream: Stream): Stream {
  (stream as { setNoDelay?(enable: boolean): void } | null | undefined)?.setNoDelay?.(true);
  return stream;
}

/** Keeps the idle sockets of all origins together at `maxIdleSockets`. */
function bounded<Agent extends http.Agent>(agent: Agent): Agent {
  return agent.on('free', () => {
    let idle = 0;
    for (const origin in agent.freeSockets) idle += agent.freeSockets[origin]?.length ?? 0;
    if (idle <= maxIdleSockets) return;
    // Origins are listed in the order in which they first fell idle: the first socket is an old one.
    Object.values(agent.freeSockets)[0]?.[0]?.destroy();
  });
}
