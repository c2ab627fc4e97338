import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
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

/** Opens connections by way of agents of their own, which are created with `options`. */
export function agentConnector(options: https.AgentOptions): Connect {
  const agents = { 'http:': httpAgent(options), 'https:': httpsAgent(options) };
  return resumingConnector((protocol, connection) => {
    const agent = agents[protocol as keyof typeof agents];
    return agent.createConnection({ ...defaults, ...options, ...connection } as object) as Socket;
  });
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
