import type http from 'node:http';
import type { Socket } from 'node:net';
import { type Agents, connector, maxIdleSockets } from '@longhand/shared/agent.ts';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';

/** Node's type of an agent lacks the options that it was made with. */
type KeepAliveAgent = http.Agent & { readonly options: http.AgentOptions };

export interface ConnectionsOptions {
  /** Open the connections; their options limit the connections to an origin and how long these may be idle. */
  agents: Agents;
  /** Bytes of response headers. */
  maxHeaderSize: number;
}

/** Knows the connection of its request before that is sent. */
export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection?: Connection;
}

/**
 * Kept-alive connections that `agents` open and on which undici speaks HTTP/1.1. If the server has closed one while it
 * was idle, another takes its place.
 */
export function connections({ agents, maxHeaderSize }: ConnectionsOptions) {
  const idle = new Set<Connection>();
  const pools = new Map<string, Pool>();
  const agentOf = (protocol: string) => agents[protocol as keyof typeof agents] as KeepAliveAgent;

  const connect = connector(agents);

  const openPool = (origin: string) => {
    const url = new URL(origin);
    const { maxSockets, options } = agentOf(url.protocol);
    const kept = {
      maxHeaderSize,
      keepAliveTimeout: options.timeout as number,
      keepAliveMaxTimeout: options.timeout as number,
      keepAliveTimeoutThreshold: options.agentKeepAliveTimeoutBuffer as number,
      // The caller sets the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const factory = () => new Connection(url, connect, kept, idle);
    // With HTTP/2, all requests would wait until the first connection has negotiated the protocol.
    const pool = new Pool(origin, { connections: maxSockets, factory, allowH2: false });
    // Not at once, as undici's Agent does: a request that was aborted still counts in this turn of the event loop.
    const lost = () => setImmediate(forgetUnused, origin, pool);
    return pool.on('disconnect', lost).on('connectionError', lost);
  };

  const forgetUnused = (origin: string, pool: Pool) => {
    const { connected, size } = pool.stats;
    if (connected > 0 || size > 0 || pools.get(origin) !== pool) return;
    pools.delete(origin);
    pool.close();
  };

  return {
    /** Sends a request to `origin` over a free connection or a new one. */
    dispatch(origin: string, options: Dispatcher.DispatchOptions, handler: ConnectionHandler) {
      const pool = pools.get(origin) ?? openPool(origin);
      pools.set(origin, pool);
      pool.dispatch(options, handler);
    },
    /** Cuts the idle connections to `origin`; resolves once none of them can be taken for the next request. */
    async cutIdle(origin: string) {
      const cut = [...idle].filter((connection) => connection.origin === origin);
      await Promise.all(cut.map((connection) => connection.cut()));
    },
    /** How many origins there are connections to. */
    origins: () => pools.size,
    /** Cuts all connections. */
    close() {
      for (const pool of pools.values()) pool.destroy();
      pools.clear();
    },
  };
}

type Connect = ReturnType<typeof connector>;

/** A connection to one origin, opened when it is needed, also again after a loss. */
export class Connection extends Client {
  readonly origin: string;
  /** The family of the remote address. */
  addressFamily: 4 | 6 | null = null;
  /** Whether it has carried a response before. */
  used = false;
  readonly #idle: Set<Connection>;
  #socket: Socket | undefined;
  #free: (() => void) | undefined;

  constructor(url: URL, open: Connect, options: Client.Options, idle: Set<Connection>) {
    const connect: buildConnector.connector = (target, callback) => {
      this.used = false;
      this.#socket = open(target, (...result) => {
        const [, socket] = result;
        if (socket) this.addressFamily = socket.remoteFamily === 'IPv6' ? 6 : 4;
        callback(...result);
      });
    };
    super(url, { ...options, connect });
    this.origin = url.origin;
    this.#idle = idle;
    this.on('drain', () => this.#rest());
    this.on('disconnect', () => this.#rest());
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: ConnectionHandler): boolean {
    handler.connection = this;
    this.#idle.delete(this);
    return super.dispatch(options, handler);
  }

  /** Calls back once the connection is free for the next request. */
  whenFree(callback: () => void): void {
    this.used = true;
    this.#free = callback;
  }

  /** Cuts the connection, even while it is being opened; resolves once it is closed. */
  async cut(): Promise<void> {
    this.#idle.delete(this);
    const socket = this.#socket;
    if (!socket || socket.closed) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // A request that is sent until then sees a connection that the server has closed.
    socket.destroy(Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' }));
    await closed;
  }

  #rest() {
    this.#free?.();
    this.#free = undefined;
    this.#idle.delete(this);
    if (this.#socket?.destroyed) return;
    this.#idle.add(this);
    if (this.#idle.size <= maxIdleSockets) return;
    const [oldest] = this.#idle;
    oldest?.cut();
  }
}
