import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
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
  return prepared(new http.Agent({ ...defaults, ...options }));
}

/** The same for `https:`, with the options of `https.Agent`. */
export function httpsAgent(options: https.AgentOptions = {}): https.Agent {
  return prepared(new https.Agent({ ...defaults, ...options }));
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

/** Enables no-delay on every socket of `agent`, and bounds its idle ones over all origins to `maxIdleSockets`. */
function prepared<Agent extends http.Agent>(agent: Agent): Agent {
  const { createConnection } = agent;
  agent.createConnection = (...args) => {
    const socket = createConnection.apply(agent, args) as Socket | undefined;
    return socket?.setNoDelay(true);
  };
  return agent.on('free', () => {
    let idle = 0;
    for (const origin in agent.freeSockets) idle += agent.freeSockets[origin]?.length ?? 0;
    if (idle <= maxIdleSockets) return;
    // Origins are listed in the order in which they first fell idle: the first socket is an old one.
    Object.values(agent.freeSockets)[0]?.[0]?.destroy();
  });
}
