/** What differs from one native Prometheus to another. */
interface Scrape {
  /** The address of the bridge, as `127.0.0.1:1234`. */
  bridge: string;
  /** The address of redis_exporter; without it Redis itself is not observed. */
  redisExporter?: string | undefined;
  /** Seconds between two scrapes. */
  interval: number;
}

/** The configuration of a native Prometheus, as JSON, which is YAML. The one of containers is prometheus.yml. */
export function prometheusConfiguration({ bridge, redisExporter, interval }: Scrape): string {
  const every = `${interval}s`;
  const relabel = [
    { source_labels: ['__address__'], target_label: '__param_target', replacement: 'unix://run/$1.sock' },
    { source_labels: ['__address__'], target_label: 'instance' },
    { target_label: '__address__', replacement: redisExporter },
  ];
  const redis = {
    job_name: 'redis',
    metrics_path: '/scrape',
    static_configs: [{ targets: ['expander-cache', 'tasks-store'] }],
    relabel_configs: relabel,
  };
  return JSON.stringify({
    global: { scrape_interval: every, evaluation_interval: every },
    rule_files: ['rules.yml'],
    scrape_configs: [
      {
        job_name: 'longhand',
        http_sd_configs: [{ url: `http://${bridge}/targets`, refresh_interval: every }],
      },
      ...(redisExporter ? [redis] : []),
    ],
  });
}
