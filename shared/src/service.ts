import { Socket } from 'node:net';
import { listenAddresses, type ServiceConfig } from './env.ts';
import { configurationExitCode } from './environment-error.ts';
import { ListenError } from './listen.ts';
import { createLog } from './log.ts';
import { createObserver } from './observe.ts';
import { createMetrics, operations } from './operations.ts';
import { type Application, type ServeOptions, serve } from './serve.ts';
import { stopSignal } from './stop.ts';

type RunOptions = Pick<ServeOptions, 'clientErrorHeaders' | 'problems'> & {
  /** Rejects if the service cannot work. */
  ready?: () => Promise<unknown>;
  close?: () => void;
};

/** Creates the log, metrics and stop signal of a service, and a function that runs it. */
export function prepareService(name: string, version: string, config: ServiceConfig) {
  const { HEARTBEAT_FD } = process.env;
  if (HEARTBEAT_FD) startHeartbeat(Number(HEARTBEAT_FD));
  const address = listenAddresses(config);
  const log = createLog(name, config.LOG_LEVEL);
  const metrics = createMetrics(name, version);
  const fault = new AbortController();
  const signal = AbortSignal.any([stopSignal(), fault.signal]);
  // The process must survive a rejection in a library, for example while Redis restarts.
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'));

  /**
   * Serves `app` until `signal` is aborted, drains, and ends the process. Prints an error and exits with 78 if the port cannot be
   * used. The operations endpoints respond until the process ends.
   */
  const run = async (app: Application, { ready, close, ...options }: RunOptions): Promise<never> => {
    const isReady = async () => {
      if (signal.aborted) throw new Error('draining');
      await ready?.();
    };
    const observer = createObserver(log, metrics);
    try {
      const service = await serve(app, { ...address.service, ...options, signal, observer });
      const ops = await serve(operations(isReady, metrics), {
        ...address.operations,
        signal: new AbortController().signal,
      });
      // The process may be in an invalid state, so it drains and exits.
      process.on('uncaughtException', (err) => {
        log.fatal({ err }, 'unexpected error; shutting down');
        process.exitCode = 1;
        fault.abort();
      });
      log.info({ version, url: service.url, operations: ops.url }, 'listening');
      await service.closed;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      console.error(error.message);
      process.exit(configurationExitCode);
    }
    close?.();
    log.info('stopped');
    // A pending name lookup would keep the process alive for seconds.
    process.exit();
  };
  return { log, metrics, signal, run };
}

/** Milliseconds between heartbeats. watched.sh waits 750 ms for each. */
const heartbeatInterval = 500;

/** Writes a heartbeat byte to the pipe `fd` twice a second while the event loop runs. */
export function startHeartbeat(fd: number): void {
  const pipe = new Socket({ fd, readable: false, writable: true });
  // The reader may have closed the pipe.
  pipe.on('error', () => clearInterval(timer));
  const beat = () => pipe.write('.');
  const timer = setInterval(beat, heartbeatInterval).unref();
  beat();
}
