import { Gauge, Histogram, type Registry } from 'prom-client';
import { durationBuckets, type Facts, timed } from './spans.ts';

/**
 * Runs an operation on Redis and takes its time, as a span of the request and in the metrics.
 *
 * @param operation one of a few names: a command, or a script.
 * @param facts what the reply says of the operation itself, such as how many shared its round trip.
 */
export type Timed = <Reply>(
  operation: string,
  run: () => Promise<Reply>,
  facts?: (reply: Reply) => Facts,
) => Promise<Reply>;

/** Takes no time. */
export const untimed: Timed = (_, run) => run();

/** Times operations by the names and labels of OpenTelemetry's database conventions (1.44). */
export function timedOperations(metrics: Registry): Timed {
  const durations = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from an operation on Redis to its reply, its wait for a connection included.',
    labelNames: ['db_system_name', 'db_operation_name', 'error_type'],
    buckets: durationBuckets,
    registers: [metrics],
  });
  return (operation, run, facts) =>
    timed(`redis ${operation}`, run, {
      durations,
      labels: { db_system_name: 'redis', db_operation_name: operation },
      ...(facts && { describe: (reply) => ({ facts: facts(reply) }) }),
    });
}

/** A gauge of whether the service's Redis answers, asked at each scrape. */
export function redisState(metrics: Registry, ping: () => Promise<unknown>): void {
  new Gauge({
    name: 'longhand_redis_answers',
    help: 'Whether the Redis of this service answers a ping.',
    registers: [metrics],
    async collect() {
      this.set(
        await ping().then(
          () => 1,
          () => 0,
        ),
      );
    },
  });
}
