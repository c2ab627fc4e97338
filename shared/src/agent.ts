import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type Connect,
  idleMargin,
  idleTimeout,
  maxIdleSockets,
  maxSockets,
  resumingConnector,
} from './connector.ts';

const defaults = {
  keepAlive: true,
  timeout: idleTimeout,
  // Subtracted from a server's `Keep-Alive: timeout`: the server might close the socket while a request uses it.
  agentKeepAliveTimeoutBuffer: idleMargin,
  maxSockets,
  maxFreeSockets: maxSockets,
  maxTotalSockets: 1_024 + maxIdleSockets,
  scheduling: 'lifo',
} satisfies http.AgentOptions;

/**
 * Creates an agent for `http:` that keeps connections alive and enables TCP no-delay on every socket it creates,
 * whatever `options` say. Without no-delay, Nagle's algorithm holds back the second write of a request
 * until the server's delayed acknowledgement of the first, about 40 ms later.
 *
 * Idle sockets are closed after 4 s, or 1 s before the server's `Keep-Alive: timeout` if that is sooner.
 * `options` are those of `http.Agent` (`lookup` included); they are copied, and win over the bounds above.
 */
export function httpAgent(options: http.AgentOptions = {}): http.Agent {
  return bounded(new HttpAgent({ ...defaults, ...options }));
}

/** The same for `https:`, with the options of `https.Agent`. */
export function httpsAgent(options: https.AgentOptions = {}): https.Agent {
  return bounded(new HttpsAgent({ ...defaults, ...options }));
}

export type Agents = Record<'http:' | 'https:', http.Agent>;

/** Node's type of an agent lacks the options it was created with. */
type AgentWithOptions = http.Agent & { readonly options: http.AgentOptions };

/** Opens connections by way of `agents`, so these have TCP no-delay on and use the agents' `lookup`. */
export function connector(agents: Agents): Connect {
  return resumingConnector((protocol, options) => {
    const agent = agents[protocol as keyof Agents] as AgentWithOptions;
    return agent.createConnection({ ...agent.options, ...options } as http.ClientRequestArgs) as Socket;
  });
}

/** Opens connections by way of agents of their own, which use `lookup`. */
export function agentConnector(lookup: LookupFunction): Connect {
  return connector({ 'http:': httpAgent({ lookup }), 'https:': httpsAgent({ lookup }) });
}

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
