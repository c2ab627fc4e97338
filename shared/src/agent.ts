import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';

const defaults = {
  keepAlive: true,
  // Milliseconds until an idle socket is closed. Node's servers close idle connections after 5 s.
  timeout: 4_000,
  // Closes an idle socket 1 s before the server's `Keep-Alive: timeout`, because the server could close it during a request.
  agentKeepAliveTimeoutBuffer: 1_000,
  maxSockets: 64,
  maxFreeSockets: 64,
  maxTotalSockets: 1_280,
  scheduling: 'lifo',
} satisfies http.AgentOptions;

function withNoDelay<Agent extends http.Agent>(agent: Agent): Agent {
  const { prototype } = agent.constructor as typeof http.Agent;
  agent.createConnection = (...args) =>
    (prototype.createConnection.apply(agent, args) as Socket | undefined)?.setNoDelay(true);
  return agent;
}

/**
 * Creates an agent for `http:` that keeps connections alive and enables TCP no-delay on every socket. Without no-delay, Nagle's
 * algorithm delays the second write of a request until the server acknowledges the first, about 40 ms later.
 *
 * The agent closes idle sockets after 4 s, or 1 s before the server's `Keep-Alive: timeout` if that is sooner. `options` override
 * the defaults above, but not no-delay.
 */
export function httpAgent(options: http.AgentOptions = {}): http.Agent {
  return withNoDelay(new http.Agent({ ...defaults, ...options }));
}

/** Like `httpAgent`, but for `https:`. */
export function httpsAgent(options: https.AgentOptions = {}): https.Agent {
  return withNoDelay(new https.Agent({ ...defaults, ...options }));
}
