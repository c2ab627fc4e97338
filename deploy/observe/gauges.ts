import { statfs } from 'node:fs/promises';
import { connect } from 'node:tls';
import { Gauge, type Registry } from 'prom-client';

/** Exports the size and the free space of the disk that holds `folder`, the data of the store. */
export function exportDisk(metrics: Registry, folder: string): void {
  const gauge = (name: string, help: string, bytes: (blocks: { all: number; free: number }) => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        const found = await statfs(folder).catch(() => undefined);
        if (found) this.set(bytes({ all: found.blocks, free: found.bavail }) * found.bsize);
      },
    });
  gauge('longhand_store_disk_size_bytes', "The size of the disk with the store's data.", ({ all }) => all);
  gauge(
    'longhand_store_disk_free_bytes',
    "The free space of the disk with the store's data.",
    ({ free }) => free,
  );
}

/** Exports until when the certificates are valid that the TLS server at `port` of `host` shows for `names`. */
export function exportCertificates(
  metrics: Registry,
  { host, port, names }: { host: string; port: number; names: readonly string[] },
): void {
  if (names.length === 0) return;
  new Gauge({
    name: 'longhand_certificate_not_after_seconds',
    help: 'Until when the certificate of a host name is valid, in seconds since 1970.',
    labelNames: ['name'],
    registers: [metrics],
    async collect() {
      for (const name of names) {
        const until = await validUntil(host, port, name).catch(() => undefined);
        if (until) this.set({ name }, until.getTime() / 1_000);
      }
    },
  });
}

function validUntil(host: string, port: number, servername: string): Promise<Date> {
  return new Promise((resolve, reject) => {
    // Whatever it shows is reported, valid or not.
    const socket = connect({ host, port, servername, rejectUnauthorized: false, timeout: 2_000 }, () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
    socket.on('error', reject).on('timeout', () => socket.destroy(new Error('timeout')));
  });
}
