import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics that Redis itself counts, by the field of its INFO reply, with redis_exporter's names. */
const gauges = {
  used_memory: ['redis_memory_used_bytes', 'Memory that Redis uses (bytes).'],
  maxmemory: ['redis_memory_max_bytes', "Redis's memory limit (bytes); 0 means no limit."],
  connected_clients: ['redis_connected_clients', 'Connections to Redis.'],
} as const;
const counters = {
  total_commands_processed: ['redis_commands_processed_total', 'Commands that Redis has processed.'],
  evicted_keys: ['redis_evicted_keys_total', 'Keys that Redis has evicted at its memory limit.'],
} as const;

/**
 * Exports the statistics of a service's Redis. The service exports them, because any other program would need the password, and
 * with it could read every key. The values stay the same while `info` fails.
 *
 * @param info returns Redis's reply to INFO.
 */
export function redisStatistics(metrics: Registry, info: () => Promise<string>): void {
  /** All metrics of a scrape share one reply. */
  let reply: Promise<string> | undefined;
  const read = async (field: string): Promise<number | undefined> => {
    reply ??= info().finally(() => {
      reply = undefined;
    });
    const text = await reply.catch(() => '');
    const [, value] = new RegExp(`^${field}:(\\d+)`, 'm').exec(text) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  const registers = [metrics];
  for (const [field, [name, help]] of Object.entries(gauges))
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read(field);
        if (value !== undefined) this.set(value);
      },
    });
  for (const [field, [name, help]] of Object.entries(counters))
    new Counter({
      name,
      help,
      registers,
      async collect() {
        const value = await read(field);
        if (value === undefined) return;
        this.reset();
        this.inc(value);
      },
    });
}
