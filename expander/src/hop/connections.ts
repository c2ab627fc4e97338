import type http from 'node:http';
import type { Socket } from 'node:net';
import { type Agents, connector, maxIdleSockets } from '@longhand/shared/agent.ts';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';

/** Node's type of an agent lacks the options that it was made with. */
type KeepAliveAgent = http.Agent & { readonly options: http.AgentOptions };

export interface ConnectionsOptions {
  /** Open the connections, and say how many there may be to one origin and how long they may be idle. */
  agents: Agents;
  /** Bytes of response headers. */
  maxHeaderSize: number;
}

/** Told which connection it goes over before it does. */
export interface ConnectionHandler extends Dispatcher.DispatchHandler {
  connection?: Connection;
}

/**
 * Kept connections that `agents` open and on which undici speaks HTTP/1.1. One that was idle is looked at before
 * it is used again: where the server has closed it, another one takes its place.
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
      // Whoever asks says how long it may take.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const factory = () => new Connection(url, connect, kept, idle);
    // Where HTTP/2 might be spoken, all would wait for the first connection to find out.
    const pool = new Pool(origin, { connections: maxSockets, factory, allowH2: false });
    // undici's Agent looks too early: a request that was broken off is still counted in this turn.
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
    /** Sends a request to `origin` over a connection that is free, or a new one. */
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

/** A connection to one origin, opened when it is needed and again when it is lost. */
export class Connection extends Client {
  readonly origin: string;
  /** Of the address at the other end. */
  addressFamily: 4 | 6 | null = null;
  /** Whether it has carried an answer before. */
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

  /** Calls back once the next request may go over it. */
  whenFree(callback: () => void): void {
    this.used = true;
    this.#free = callback;
  }

  /** Cuts it, also while it is being opened; resolves once it is closed. */
  async cut(): Promise<void> {
    this.#idle.delete(this);
    const socket = this.#socket;
    if (!socket || socket.closed) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // To a request that is sent over it until then it is one that the other side has closed.
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
