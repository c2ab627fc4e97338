import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { operations } from '@longhand/shared/operations.ts';
import { serve } from '@longhand/shared/serve.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { doorMetrics } from './door.ts';
import { exportCertificates, exportDisk } from './gauges.ts';
import { receiveLines } from './syslog.ts';

/**
 * Exports, in one container, what no service can know: what every proxy answered, the disk of the store, the
 * certificates, and by redis_exporter both Redis.
 */
const metrics = new Registry();
collectDefaultMetrics({ register: metrics });
const signal = stopSignal();

const lines = await receiveLines({ host: '0.0.0.0', port: 5514 }, doorMetrics(metrics));
exportDisk(metrics, '/data');
exportCertificates(metrics, {
  host: 'proxy',
  port: 8443,
  names: [process.env.LONGHAND_EXPANDER_NAME, process.env.LONGHAND_TASKS_NAME].filter(
    (name) => name,
  ) as string[],
});
const { closed } = await serve(
  operations(async () => {}, metrics),
  { host: '0.0.0.0', port: 9464, signal },
);

const passwords = Object.fromEntries(
  ['expander-cache', 'tasks-store'].map((redis) => [
    `redis://${redis}:6379`,
    readFileSync(`/run/redis/${redis}/password`, 'utf8').trim(),
  ]),
);
writeFileSync('/tmp/passwords.json', JSON.stringify(passwords), { mode: 0o600 });
const redisExporter = spawn(
  'prometheus-redis-exporter',
  ['--redis.addr=', '--redis.password-file=/tmp/passwords.json', '--web.listen-address=0.0.0.0:9121'],
  { stdio: 'inherit' },
);
// Docker restarts the container, and both begin anew.
redisExporter.on('exit', (code) => process.exit(signal.aborted ? 0 : (code ?? 1)));

await closed;
lines.close();
redisExporter.kill();
